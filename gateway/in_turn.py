"""Pages and files: each waits for its client's turn, and its time is charged to the client."""

from collections.abc import Coroutine
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.cost.clients import Clients
from gateway.requests import headers_of


class InTurn:
    """An application whose requests take turns. Operations (`/graphql`) do so by themselves, where
    the size of their body is known."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        self._app, self._clients = app, clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        work = cast(Coroutine[Any, Any, None], self._app(scope, receive, send))
        if scope["type"] != "http" or scope["path"] == "/graphql":
            await work
            return
        peer = (scope.get("client") or ("",))[0]
        name = self._clients.name(headers_of(scope["headers"]), peer)
        await self._clients.in_turn(name, 0, work)

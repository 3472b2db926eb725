"""Pages and files: each request waits for its client's turn, and its time is charged to the
client."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.cost.clients import Clients
from gateway.requests import headers_of


class InTurn:
    """An application whose requests take turns. Operations (`/graphql`) take turns themselves, when
    the size of their body is known."""

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        self._app, self._clients = app, clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/graphql":
            await self._app(scope, receive, send)
            return
        clients, peer = self._clients, (scope.get("client") or ("",))[0]
        name = clients.name(headers_of(scope["headers"]), peer)

        async def send_and_charge(message: Message) -> None:
            clients.sent(name, len(message.get("body", b"")))
            await send(message)

        await clients.in_turn(name, 0, self._answer(scope, receive, send_and_charge))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

"""Pages and files: each request waits for its client's turn, and so does each part of a response
after the first. Time and bytes are charged to the client."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.requests import headers_of
from gateway.server.fairness.clients import Clients


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

        begun = False

        async def send_and_charge(message: Message) -> None:
            nonlocal begun
            if size := len(message.get("body", b"")):
                if begun:
                    await clients.next_part(name)
                begun = True
                clients.sent(name, size)
            await send(message)

        await clients.in_turn(name, 0, self._answer(scope, receive, send_and_charge))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

"""The web client: its page at `/`, its built files under `/web/`, and demo sign-in.

The sources are in web; `make web` builds them into gateway/static/web.
"""

from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from gateway.http.auth import Tokens
from gateway.http.console import may_have_tokens
from gateway.http.files import HashedFiles, SentFromMemory
from gateway.http.requests import Disconnected, read_body
from gateway.http.this_machine import ThisMachine
from gateway.settings import Settings
from resolvers.context import Context

STATIC = Path(__file__).parents[1] / "static" / "web"
MANIFEST = STATIC / "persisted-documents.json"
"""The client's own documents by their hashes, which the client sends in place of them."""
SCREENS = (
    *("/", "/following", "/new", "/notifications", "/search", "/sign-in"),
    *("/pin/{id}", "/board/{id}", "/user/{name}"),
)
"""The addresses of the client's own router (web/src/app.tsx)."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_MOST_BYTES = 1_000  # of a sign-in request


class _SignIn(msgspec.Struct):
    username: str


class WebClient:
    """The routes of the web client."""

    def __init__(
        self, settings: Settings, tokens: Tokens, new_context: Any, here: ThisMachine
    ) -> None:
        self._settings, self._tokens, self._new_context = settings, tokens, new_context
        self._here = here

    def routes(self) -> list[BaseRoute]:
        return [
            *(Route(screen, _page) for screen in SCREENS),
            Route("/web/boot.json", self._boot),
            Route("/web/sign-in", self._sign_in, methods=["POST"]),
            Mount("/web", HashedFiles(STATIC, _HEADERS)),
        ]

    async def _boot(self, request: Request) -> Response:
        """Say whether people may choose a demo user, and which one to offer first."""
        may = may_have_tokens(request, self._settings, self._here)
        return _json({"demoViewer": self._settings.auth.demo_viewer if may else None})

    async def _sign_in(self, request: Request) -> Response:
        """Answer with a demo user's token. For development only: see `may_have_tokens`."""
        if not may_have_tokens(request, self._settings, self._here):
            return _problem(
                403, "Demo sign-in is off here: it needs auth.demo_viewer and this machine."
            )
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _problem(415, "The content-type must be application/json.")
        try:
            body = await read_body(request.receive, _MOST_BYTES)
            if len(body) > _MOST_BYTES:
                return _problem(413, f"The body may have {_MOST_BYTES} bytes at most.")
            wanted = msgspec.json.decode(body, type=_SignIn)
        except (Disconnected, msgspec.DecodeError):
            return _problem(400, 'The body must be {"username": "the name of a user"}.')
        context: Context = self._new_context(None)
        user_id = await context.loaders.user_ids.load(wanted.username.lower())
        if user_id is None or await context.loaders.users.load(user_id) is None:  # or deleted
            return _problem(404, f"There is no user {wanted.username!r}.")
        return _json({"username": wanted.username, "token": self._tokens.issue(user_id)})


async def _page(request: Request) -> Response:
    return SentFromMemory(STATIC / "index.html", headers={**_HEADERS, "cache-control": "no-cache"})


def _json(value: dict[str, Any]) -> Response:
    return JSONResponse(value, headers={"cache-control": "no-store"})


def _problem(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status, {"cache-control": "no-store"})

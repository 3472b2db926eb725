"""GraphiQL: its page, with the signed-in user and the sample operations."""

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping, PageRequest
from gateway.http.auth import Tokens
from gateway.http.files import Files, HashedFiles, SentFromMemory
from gateway.http.this_machine import ThisMachine, host_name
from gateway.settings import Settings
from resolvers.context import Context

_HERE = Path(__file__).parents[1]
STATIC = _HERE / "static" / "graphiql"
_SAMPLES = _HERE / "samples"


def wants_page(request: Request) -> bool:
    """Whether the request comes from a browser that opens the page, not from a client with an
    operation."""
    html = "text/html" in request.headers.get("accept", "")
    opens = request.method in ("GET", "HEAD")
    return opens and html and "query" not in request.query_params


_HEADERS = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
}
"""Headers that forbid other sites to show the page in a frame, where they could steal clicks."""


def page() -> Response:
    # At this address, the API answers clients that accept JSON.
    headers = {**_HEADERS, "cache-control": "no-cache", "vary": "Accept"}
    return SentFromMemory(STATIC / "index.html", headers=headers)


def files() -> Files:
    """The page's files."""
    return HashedFiles(STATIC, _HEADERS)


class Boot:
    """Answers /graphiql/boot.json.

    The demo viewer's token is sent only if a demo viewer is set, only to clients on this machine,
    and only to pages with an allowed host name: a page of another site whose name resolves to this
    machine gets no token.
    """

    def __init__(self, settings: Settings, tokens: Tokens, context: Any, here: ThisMachine) -> None:
        self._settings, self._tokens, self._context = settings, tokens, context
        self._here = here

    async def __call__(self, request: Request) -> Response:
        name, token, filled = self._settings.auth.demo_viewer, None, dict[str, str]()
        if may_have_tokens(request, self._settings, self._here):
            context: Context = self._context(None)
            viewer_id = await context.loaders.user_ids.load(name)
            if viewer_id is not None:
                token = self._tokens.issue(viewer_id)
                filled = await _placeholders(self._context(viewer_id), viewer_id)
        boot = {
            "endpoint": "/graphql",
            "viewer": name if token else None,
            "token": token,
            "tabs": [_tab(path, filled) for path in sorted(_SAMPLES.glob("*.graphql"))],
        }
        return JSONResponse(boot, headers={"cache-control": "no-store"})


def may_have_tokens(request: Request, settings: Settings, here: ThisMachine) -> bool:
    """Whether a browser may get demo users' tokens without a password: a demo viewer is set, the
    client is on this machine, and the page's host name is one of the gateway's own."""
    is_here = here.sent(request)  # also for other requests: it looks for proxies
    allowed = host_name(request.headers.get("host", "")) in settings.http.allowed_hosts
    return bool(settings.auth.demo_viewer) and is_here and allowed


def _tab(path: Path, filled: dict[str, str]) -> dict[str, str]:
    variables = path.with_suffix(".json").read_text()
    for name, value in filled.items():
        variables = variables.replace("{{" + name + "}}", value)
    title = path.stem.partition("-")[2].replace("-", " ").capitalize()
    return {"title": title, "query": path.read_text(), "variables": variables}


async def _placeholders(context: Context, viewer_id: int) -> dict[str, str]:
    """Ids with which the samples run: a board of the viewer, two of its pins, another user."""
    loaders = context.loaders
    filled: dict[str, str] = {}
    boards = await loaders.pages.load(
        PageRequest(ListKey(Mapping.USER_HAS_PUBLIC_BOARDS, viewer_id), 5)
    )
    for board in boards:
        pins = await loaders.pages.load(
            PageRequest(ListKey(Mapping.BOARD_HAS_PINS, board.to_id), 3)
        )
        if len(pins) > 1:
            filled |= {
                "boardId": str(board.to_id),
                "pinId": str(pins[-1].to_id),
                "otherPinId": str(pins[0].to_id),
            }
            break
    users = await context.stores.shards.objects.list(Kind.USER, 0, 2)
    others = [id for id, _ in users if id != viewer_id]
    return filled | ({"userId": str(others[0])} if others else {})

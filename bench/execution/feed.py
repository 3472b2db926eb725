"""The home feed's schema as a team would write it in strawberry, and its loaders.

With BENCH_BULK=1 in the environment, fields that name their loader also take all parents at once;
stock strawberry ignores that.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import aiodataloader
import strawberry
from strawberry.types import Info

from bench.execution.data import data
from feed_engine.transactions.blocks import NONE
from loaders.base import Loader

BULK = os.environ.get("BENCH_BULK") == "1"


def loaded_by(loader: str, attribute: str) -> dict[str, Any]:
    """The metadata of a field whose value is `loader`'s value for the parents' `attribute`."""

    key_of = attrgetter(attribute)

    def bulk(context: Any, parents: Sequence[Any]) -> Awaitable[Sequence[Any]]:
        found: Awaitable[Sequence[Any]] = getattr(context, loader).many(list(map(key_of, parents)))
        return found

    return {"bulk": bulk} if BULK else {}


@strawberry.type
class User:
    id: strawberry.ID
    username: str


@strawberry.type
class Board:
    id: strawberry.ID
    name: str
    owner_id: strawberry.Private[str]

    @strawberry.field(metadata=loaded_by("users", "owner_id"))
    async def owner(self, info: Info) -> User:
        return await info.context.users.load(self.owner_id)


@strawberry.type
class Pin:
    id: strawberry.ID
    title: str | None
    description: str | None
    link: str | None
    image_url: str | None
    created_at: str
    board_id: strawberry.Private[str]
    owner_id: strawberry.Private[str]

    @strawberry.field(metadata=loaded_by("boards", "board_id"))
    async def board(self, info: Info) -> Board:
        return await info.context.boards.load(self.board_id)

    @strawberry.field(metadata=loaded_by("users", "owner_id"))
    async def owner(self, info: Info) -> User:
        return await info.context.users.load(self.owner_id)


@strawberry.type
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@strawberry.type
class PinEdge:
    cursor: str
    pin_id: strawberry.Private[str]

    @strawberry.field(metadata=loaded_by("pins", "pin_id"))
    async def node(self, info: Info) -> Pin:
        return await info.context.pins.load(self.pin_id)


@strawberry.type
class PinConnection:
    edges: list[PinEdge]
    page_info: PageInfo


@strawberry.type
class Query:
    @strawberry.field
    async def home_feed(self, info: Info, first: int, after: str | None = None) -> PinConnection:
        feed = FEEDS[info.context.viewer_id]
        start = int(after[1:]) + 1 if after else 0
        edges = [
            PinEdge(cursor=f"c{place}", pin_id=id)
            for place, id in enumerate(feed[start : start + first], start)
        ]
        info_ = PageInfo(
            has_next_page=start + first < len(feed),
            has_previous_page=start > 0,
            start_cursor=edges[0].cursor if edges else None,
            end_cursor=edges[-1].cursor if edges else None,
        )
        return PinConnection(edges=edges, page_info=info_)


USERS = {row["id"]: User(id=row["id"], username=row["username"]) for row in data()["users"]}
BOARDS = {
    row["id"]: Board(id=row["id"], name=row["name"], owner_id=row["ownerId"])
    for row in data()["boards"]
}
PINS = {
    row["id"]: Pin(
        id=row["id"],
        title=row["title"],
        description=row["description"],
        link=row["link"],
        image_url=row["imageUrl"],
        created_at=row["createdAt"],
        board_id=row["boardId"],
        owner_id=row["ownerId"],
    )
    for row in data()["pins"]
}
FEEDS = [[f"p{place}" for place in feed] for feed in data()["feeds"]]


def _batch(objects: Mapping[str, Any]) -> Callable[[Sequence[str]], Awaitable[list[Any]]]:
    async def load(keys: Sequence[str]) -> list[Any]:
        await asyncio.sleep(0)  # one turn of the event loop, like a cache hit
        return [objects.get(key) for key in keys]

    return load


BATCHES = {"users": _batch(USERS), "boards": _batch(BOARDS), "pins": _batch(PINS)}


class OurLoader(Loader[str, Any]):
    """The project's own loader over a batch function."""

    def __init__(self, name: str) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # no stores here
        self.load_batch = BATCHES[name]  # type: ignore[method-assign,assignment]


class Unmoved:
    """The part of a context that our executor needs, in an application where no pins move."""

    __slots__ = ()
    fault = None

    def again(self) -> bool:
        return False


class Context(Unmoved):
    """One request, with a fresh set of loaders."""

    __slots__ = ("asked", "boards", "pins", "users", "viewer_id")

    def __init__(self, viewer_id: int, loader: Callable[[str], Any]) -> None:
        self.viewer_id = viewer_id
        self.users, self.boards, self.pins = loader("users"), loader("boards"), loader("pins")


class OurContext(Context):
    """A context as the gateway's endpoint wants it: its viewer's blocks are known, and nobody has
    any."""

    __slots__ = ("issued", "renewable", "subject")
    blocks, closed = NONE, False
    stores = SimpleNamespace(object_cache=SimpleNamespace(local=None))


def stock_context(viewer_id: int) -> Context:
    """A context with the usual loaders."""
    return Context(viewer_id, lambda name: aiodataloader.DataLoader(BATCHES[name]))


def our_context(viewer_id: int) -> OurContext:
    """A context with the project's loaders."""
    return OurContext(viewer_id, OurLoader)


def viewer_of(authorization: str) -> int:
    """The viewer of `Bearer 17` is 17: verifying tokens is not part of the measurement."""
    return int(authorization[7:])


def build(extensions: Sequence[Any] = ()) -> strawberry.Schema:
    return strawberry.Schema(query=Query, extensions=list(extensions))

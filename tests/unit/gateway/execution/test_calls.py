"""Async resolvers that end together or one after the other. No resolver is called twice, and fields
below a value don't wait for other values.
"""

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import orjson
import pytest
import strawberry
from strawberry.types import Info

from tests.unit.gateway.execution.engines import both, ours, theirs

pytestmark = pytest.mark.anyio
NEVER = -1
VAR: contextvars.ContextVar[str] = contextvars.ContextVar("VAR", default="unset")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Context:
    """The behavior of the resolvers: the number of turns of the loop that each owner takes, and its
    value. `calls` counts the calls, and `ended` records the resolvers that ended."""

    def __init__(
        self,
        turns: Callable[[int], int] = lambda n: 1,
        owner: Callable[[int], Any] = lambda n: User(n=n),
    ) -> None:
        self.turns, self.made = turns, owner
        self.calls: Counter[str] = Counter()
        self.ended: list[str] = []

    async def owner(self, n: int) -> Any:
        self.calls[f"owner {n}"] += 1
        try:
            turns = self.turns(n)
            if turns == NEVER:
                await asyncio.Event().wait()
            for _ in range(turns):
                await asyncio.sleep(0)
        finally:
            self.ended.append(f"owner {n}")
        made = self.made(n)
        if isinstance(made, Exception):
            raise made
        return made


@strawberry.type
class User:
    n: int

    @strawberry.field
    async def friend(self, info: Info[Any, None]) -> "User | None":
        info.context.calls[f"friend {self.n}"] += 1
        info.context.ended.append(f"friend {self.n}")
        await asyncio.sleep(0)
        return User(n=10 * self.n)

    @strawberry.field
    async def var(self) -> str:
        return VAR.get()


@strawberry.type
class Pin:
    n: int

    @strawberry.field
    async def owner(self, info: Info[Any, None]) -> User | None:
        return await info.context.owner(self.n)  # type: ignore[no-any-return]

    @strawberry.field
    async def strict_owner(self, info: Info[Any, None]) -> User:
        return await info.context.owner(self.n)  # type: ignore[no-any-return]


@strawberry.type
class Board:
    pins: list[Pin]


@strawberry.type
class Query:
    @strawberry.field
    def board(self) -> Board | None:
        return Board(pins=[Pin(n=n) for n in range(1, 5)])


SCHEMA = strawberry.Schema(Query)._schema
OWNERS = "{ board { pins { n owner { n } } } }"
FRIENDS = "{ board { pins { n owner { n friend { n } } } } }"


def once(context: Context) -> bool:
    return set(context.calls.values()) == {1}


@pytest.mark.parametrize("query", [OWNERS, FRIENDS])
@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_coroutines_that_end_together_are_called_once(query: str, turns: int) -> None:
    contexts: list[Context] = []

    def new_context() -> Context:
        contexts.append(Context(lambda n: turns))
        return contexts[-1]

    await both(SCHEMA, query, None, new_context)
    assert once(contexts[0])


@pytest.mark.parametrize("turns", [[0, 1, 1, 0], [3, 0, 2, 1], [1, 1, 1, 9]])
async def test_values_that_arrive_one_after_the_other_keep_their_places(turns: list[int]) -> None:
    context = Context(lambda n: turns[n - 1])
    outcome = await ours(SCHEMA, OWNERS, None, context)
    assert outcome.data == (
        b'{"board":{"pins":[{"n":1,"owner":{"n":1}},{"n":2,"owner":{"n":2}},'
        b'{"n":3,"owner":{"n":3}},{"n":4,"owner":{"n":4}}]}}'
    )
    assert once(context)


@pytest.mark.parametrize("turns", [[0, 9, 9, 9], [9, 1, 9, 9], [9, 2, 1, 9]])
async def test_fields_below_an_early_value_wait_for_no_other_value(turns: list[int]) -> None:
    contexts: list[Context] = []

    def new_context() -> Context:
        contexts.append(Context(lambda n: turns[n - 1]))
        return contexts[-1]

    await both(SCHEMA, FRIENDS, None, new_context)
    context, early = contexts[0], turns.index(min(turns)) + 1
    assert context.ended.index(f"friend {early}") < context.ended.index("owner 4")
    assert once(context)


@pytest.mark.parametrize("field", ["owner", "strictOwner"])
@pytest.mark.parametrize("wrong", [ValueError("no owner"), None, "no user"])
@pytest.mark.parametrize("turns", [[0, 0, 0, 0], [1, 1, 1, 1], [2, 1, 2, 2], [1, 2, 0, 1]])
async def test_an_error_or_null_gives_the_same_response_as_graphql_core(
    turns: list[int], wrong: Any, field: str
) -> None:
    contexts: list[Context] = []

    def new_context() -> Context:
        contexts.append(Context(lambda n: turns[n - 1], lambda n: wrong if n == 2 else User(n=n)))
        return contexts[-1]

    query = f"{{ board {{ pins {{ n {field} {{ n }} }} }} }}"
    await both(SCHEMA, query, None, new_context)
    assert once(contexts[0])


@pytest.mark.parametrize("wrong", [ValueError("no owner"), None, "no user"])
@pytest.mark.parametrize("early", [0, 1])
async def test_an_error_that_makes_a_parent_null_waits_for_no_other_value(
    early: int, wrong: Any
) -> None:
    def owner(n: int) -> Any:
        return wrong if n == 2 else User(n=n)

    context = Context(lambda n: early if n <= 2 else NEVER, owner)
    outcome = await asyncio.wait_for(
        ours(SCHEMA, "{ board { pins { strictOwner { n } } } }", None, context), 5
    )
    assert outcome.data == b'{"board":null}'
    below = ["n"] if wrong == "no user" else []  # a str has no attribute n
    assert [error.path for error in outcome.errors] == [["board", "pins", 1, "strictOwner", *below]]
    assert len(context.ended) == 4


async def test_a_changed_context_variable_is_seen_only_below_its_resolver() -> None:
    def owner(n: int) -> User:
        if n == 2:
            VAR.set("changed")
        return User(n=n)

    query = "{ board { pins { owner { var } } } }"
    outcome = await both(SCHEMA, query, None, lambda: Context(lambda n: 1, owner))
    assert (outcome.data or b"").count(b"changed") == 1
    assert VAR.get() == "unset"


class Held:
    """The request's context. `words` of the second page waits for `may`. With `awaited`, the first
    word is a coroutine, and `words` of the first page waits, too. `begun` records the words that
    began, with the context variable that they see."""

    def __init__(self, awaited: bool) -> None:
        self.awaited = awaited
        self.may = asyncio.Event()
        self.begun: list[str] = []

    async def begin(self, word: str) -> str:
        self.begun.append(f"{word} {VAR.get()}")
        return word


@strawberry.type
class Page:
    n: int
    word: str

    @strawberry.field
    async def words(self, info: Info[Any, None]) -> list[str | None] | None:
        if self.n or info.context.awaited:
            await info.context.may.wait()
        return [info.context.begin(f"word {self.n}")]


@strawberry.type
class Book:
    @strawberry.field
    def other(self) -> list[Page]:
        return []

    @strawberry.field
    async def pages(self, info: Info[Any, None]) -> list[Page]:
        VAR.set("changed")
        word: Any = info.context.begin("first") if info.context.awaited else "first"
        return [Page(n=0, word=word), Page(n=1, word="second")]


@pytest.mark.parametrize("awaited", [True, False])
async def test_an_awaitable_in_a_value_begins_while_other_values_are_awaited(awaited: bool) -> None:
    """The awaitable is an attribute, or an item of a list. It begins in the context of the resolver
    that returned it."""
    schema, held = strawberry.Schema(Book)._schema, Held(awaited)
    query = "{ other { n } pages { word words } }"
    running = asyncio.ensure_future(ours(schema, query, None, held))
    for _ in range(20):
        await asyncio.sleep(0)
    assert held.begun == ["first changed" if awaited else "word 0 changed"]
    held.may.set()
    assert (await running).data == (
        b'{"other":[],"pages":[{"word":"first","words":["word 0"]},'
        b'{"word":"second","words":["word 1"]}]}'
    )


@strawberry.type
class Shelf:
    user: User
    pin: Pin

    @strawberry.field
    def label(self, info: Info[Any, None]) -> str:
        """The label. The resolver reads its path."""
        return cast(str, None if self.pin.n == 2 else str(info.path.key))


@strawberry.type
class Shelves:
    @strawberry.field
    def shelves(self) -> list[Shelf | None]:
        return [Shelf(user=User(n=n), pin=Pin(n=n)) for n in range(1, 4)]


@pytest.mark.parametrize("asked", ["owner { n }", "owner { friend { n } }", "strictOwner { n }"])
@pytest.mark.parametrize("run", [ours, theirs])
async def test_awaitables_below_an_object_that_became_null_end(
    run: Callable[..., Any], asked: str
) -> None:
    """Awaitables below other objects began at the same time, and continue."""
    context = Context(lambda n: NEVER if n == 2 else 3)
    query = f"{{ shelves {{ pin {{ {asked} }} label }} }}"
    schema = strawberry.Schema(Shelves)._schema
    outcome = await asyncio.wait_for(run(schema, query, None, context), 300)
    data = outcome.data if run is theirs else orjson.loads(outcome.data)
    assert [shelf and shelf["label"] for shelf in data["shelves"]] == ["label", None, "label"]
    assert len(outcome.errors) == 1
    if run is ours:
        assert set(context.ended) >= {"owner 1", "owner 2", "owner 3"}


async def test_a_cancelled_request_ends_all_coroutines() -> None:
    context = Context(lambda n: 1_000)
    running = asyncio.ensure_future(ours(SCHEMA, FRIENDS, None, context))
    for _ in range(20):
        await asyncio.sleep(0)
    assert once(context)
    assert not context.ended
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(context.ended) == [f"owner {n}" for n in range(1, 5)]

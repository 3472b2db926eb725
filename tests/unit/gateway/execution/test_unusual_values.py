"""Values that compiled code can't complete give graphql-core's outcome: errors, nulls, and values
of other classes. No resolver is called twice, and an unusual value ends no wait of another field.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from functools import partial
from typing import Any, cast

import orjson
import pytest
import strawberry

from datasources.protocols import Stores
from gateway.execution.levels.slices import SLICE
from gateway.execution.levels.writer import BUILT
from loaders.base import Loader
from loaders.bulk import bulk
from loaders.compiled import WANTED
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import both, ours, theirs

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_compiled_code_was_built() -> None:
    assert BUILT == WANTED, "the writer is not compiled: see the output of bootstrap.py"


CALLS = Counter(
    {"size": 5, "image": 2, "friend": 2, "owner": 1, "author": 1, "rank": 1, "tags": 1}
    | {"comments": 1}
)
"""The maximum number of calls of each resolver in a query. A plain resolver is called for each
pin, a bulk resolver for each field with its name in the query."""


class People(Loader[int, Any]):
    """A loader of users. Each batch waits for `may`."""

    def __init__(self, made: Callable[[int], Any]) -> None:
        super().__init__(cast(Stores, None))
        self._made = made
        self.may = asyncio.Event()
        self.may.set()
        self.batches: list[list[int]] = []

    async def load_batch(self, keys: list[int]) -> list[Any]:
        self.batches.append(keys)
        await self.may.wait()
        return [self._made(key) for key in keys]


class Context:
    """The behavior of the resolvers, which a test can replace. `calls` counts their calls."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.cancelled = 0
        self.owner: Callable[[int], Any] = lambda n: User(n=n, name=f"u{n}")
        self.size: Callable[[int], Any] = lambda n: 10 * n
        self.mood: Callable[[int], Any] = lambda n: f"m{n}"
        self.tags: Callable[[int], Any] = lambda n: ["a", "b"][: n % 3]
        self.image: Callable[[int], Any] = lambda n: Image(n=n) if n % 2 else None
        self.comments: Callable[[int], Any] = lambda n: [Comment(n=n)] * (n % 3)
        self.rank_may = asyncio.Event()
        self.rank_may.set()
        self.mood_may = asyncio.Event()
        self.owners = People(lambda n: self.owner(n))
        self.authors = People(lambda n: self.owner(n))


@bulk
def owner(context: Context, pins: Sequence["Pin"]) -> Awaitable[Sequence[Any]]:
    context.calls["owner"] += 1
    return context.owners.many([pin.n for pin in pins])


@bulk
def author(context: Context, comments: Sequence["Comment"]) -> Awaitable[Sequence[Any]]:
    context.calls["author"] += 1
    return context.authors.many([comment.n for comment in comments])


@bulk
async def rank(context: Context, pins: Sequence["Pin"]) -> Sequence[Any]:
    context.calls["rank"] += 1
    try:
        await context.rank_may.wait()
    except asyncio.CancelledError:
        context.cancelled += 1
        raise
    return [context.size(pin.n) for pin in pins]


@bulk
async def friend(context: Context, users: Sequence["User"]) -> Sequence[Any]:
    context.calls["friend"] += 1
    return [context.owner(getattr(user, "n", 0) + 1) for user in users]


async def mood(context: Context, pin: "Pin") -> Any:
    """The mood of a pin. Only the third pin's mood needs no wait."""
    if pin.n != 2:
        await context.mood_may.wait()
    return context.mood(pin.n)


def size(context: Context, pin: "Pin") -> Any:
    context.calls["size"] += 1
    return context.size(pin.n)


@bulk
async def tags(context: Context, pins: Sequence["Pin"]) -> Sequence[Any]:
    context.calls["tags"] += 1
    return [context.tags(pin.n) for pin in pins]


@bulk
async def image(context: Context, pins: Sequence["Pin"]) -> Sequence[Any]:
    context.calls["image"] += 1
    return [context.image(pin.n) for pin in pins]


@bulk
async def comments(context: Context, pins: Sequence["Pin"]) -> Sequence[Any]:
    context.calls["comments"] += 1
    return [context.comments(pin.n) for pin in pins]


@strawberry.type
class User:
    n: strawberry.Private[int]
    name: str
    friend: "User | None" = field_of(friend, "Another.")


@strawberry.type
class Comment:
    n: int
    day: date = date(2026, 1, 1)
    author: User | None = field_of(author, "Who wrote it.")


@strawberry.type
class Image:
    n: int


@strawberry.type
class Pin:
    n: int
    strict_owner: User = field_of(owner, "Whose it is.")
    owner: User | None = field_of(owner, "The same, if there is one.")
    strict_rank: int = field_of(rank, "Its rank.")
    rank: int | None = field_of(rank, "The same, if it has one.")
    size: int | None = field_of(size, "Its size.")
    strict_mood: str = field_of(mood, "How it is.")
    tags: list[str] = field_of(tags, "Words.")
    image: Image | None = field_of(image, "What odd ones have.")
    comments: list[Comment] = field_of(comments, "What is said of it.")


@strawberry.type
class Board:
    pins: list[Pin]
    first: Pin | None


@strawberry.type
class Query:
    @strawberry.field
    def board(self, count: int = 5) -> Board | None:
        pins = [Pin(n=n) for n in range(count)]
        return Board(pins=pins, first=pins[0] if pins else None)


SCHEMA = strawberry.Schema(Query)._schema
ALL = """{ board { first { n image { n } } pins { n size tags image { n __typename }
    comments { n author { name friend { name } } } owner { name friend { name } } rank } } }"""


async def turns_until(there: Callable[[], Any]) -> None:
    for _ in range(1_000):
        if there():
            return
        await asyncio.sleep(0)
    pytest.fail("1000 turns of the event loop were not enough")


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def answer(query: str, behave: Callable[[Context], None] = lambda _: None) -> Context:
    """Run a query with both executors, and compare the outcomes and the number of calls. Returns
    the context of the engine's run."""
    contexts = []

    def new_context() -> Context:
        contexts.append(Context())
        behave(contexts[-1])
        return contexts[-1]

    await both(SCHEMA, query, new_context=new_context)
    mine = contexts[0]
    assert mine.calls <= CALLS, mine.calls
    return mine


async def test_usual_values_give_graphql_cores_outcome() -> None:
    await answer(ALL)


def _raise(n: int) -> Any:
    raise ValueError("no image")


def _some(value: Any, usual: Callable[[int], Any]) -> Callable[[int], Any]:
    """Returns a function of a pin's number: `value` for the third pin, the usual value for others.
    An error is made for each call, because its traceback refers to frames."""
    new = partial(type(value), *value.args) if isinstance(value, Exception) else lambda: value
    return lambda n: new() if n == 2 else usual(n)


def _odd(name: str, value: Any) -> Callable[[Context], None]:
    return lambda context: setattr(context, name, _some(value, getattr(context, name)))


def _generator(context: Context) -> None:
    usual = context.comments
    context.comments = lambda n: (comment for comment in usual(n))


ODD = {
    "an error": _odd("owner", ValueError("no owner")),
    "another class": _odd("owner", "nobody"),
    "an error among leaves": _odd("size", ValueError("no size")),
    "too large a number": _odd("size", 2**40),
    "null for a list": _odd("tags", None),
    "null in a list": _odd("tags", ["a", None]),
    "a generator": _generator,
    "an error for a list": _odd("comments", ValueError("no comments")),
    "an error for all": lambda context: setattr(context, "image", _raise),
}


@pytest.mark.parametrize("odd", ODD)
async def test_an_unusual_value_calls_no_resolver_again(odd: str) -> None:
    await answer(ALL, ODD[odd])


async def test_objects_that_are_null_are_left_out() -> None:
    def behave(context: Context) -> None:
        context.owner = lambda n: User(n=n, name=f"u{n}") if n % 3 else None

    await answer(ALL, behave)
    await answer(ALL, lambda context: setattr(context, "owner", lambda n: None))


async def test_a_null_of_a_non_null_field_propagates() -> None:
    await answer("{ board { pins { n strictOwner { name } } } }", _odd("owner", None))
    await answer("{ board { pins { n strictRank } } }", _odd("size", None))


QUERY = "{ board { pins { owner { name } rank size image { n } } } }"


async def test_a_bulk_resolver_is_awaited_beside_an_error() -> None:
    """The owners arrive first, one of them an error. Then the ranks arrive."""

    def behave(context: Context) -> None:
        context.owner = _some(ValueError("no owner"), context.owner)
        context.rank_may = asyncio.Event()

    expected = await theirs_at_once(behave)
    context = Context()
    behave(context)
    running = asyncio.ensure_future(ours(SCHEMA, QUERY, context=context))
    await turns_until(lambda: context.owners.batches)
    await turns(9)
    assert not running.done()
    context.rank_may.set()
    assert (await running).data == expected
    assert context.calls <= CALLS


async def test_a_load_is_awaited_beside_an_error() -> None:
    """The ranks arrive first, one of them too large a number. Then the owners arrive."""

    def behave(context: Context) -> None:
        context.size = _some(2**40, context.size)
        context.owners.may = asyncio.Event()

    expected = await theirs_at_once(behave)
    context = Context()
    behave(context)
    running = asyncio.ensure_future(ours(SCHEMA, QUERY, context=context))
    await turns_until(lambda: context.owners.batches)
    await turns(9)
    assert not running.done()
    context.owners.may.set()
    assert (await running).data == expected
    assert context.calls <= CALLS
    assert len(context.owners.batches) == 1


@pytest.mark.parametrize("rank", [7, 2**40])
async def test_a_partly_arrived_column_is_awaited_beside_an_error(rank: int) -> None:
    """The third pin's mood arrives first, then the ranks (usual, or too large numbers), then the
    other moods."""

    def behave(context: Context) -> None:
        context.size = lambda n: rank
        context.rank_may = asyncio.Event()

    query = "{ board { pins { rank strictMood } } }"
    expected = await theirs_at_once(behave, query)
    context = Context()
    behave(context)
    running = asyncio.ensure_future(ours(SCHEMA, query, context=context))
    await turns(9)
    context.rank_may.set()
    await turns(9)
    assert not running.done()
    context.mood_may.set()
    assert (await running).data == expected


async def theirs_at_once(behave: Callable[[Context], None], query: str = QUERY) -> bytes:
    """Returns graphql-core's data for a context in which no resolver waits."""
    context = Context()
    behave(context)
    context.rank_may.set()
    context.mood_may.set()
    context.owners.may.set()
    return orjson.dumps((await theirs(SCHEMA, query, context=context)).data)


async def test_a_slow_field_does_not_delay_the_fields_below_another_field() -> None:
    context = Context()
    context.rank_may = asyncio.Event()
    query = "{ board { pins { rank comments { author { name } } } } }"
    running = asyncio.ensure_future(ours(SCHEMA, query, context=context))
    await turns_until(lambda: context.authors.batches)
    assert not running.done()
    context.rank_may.set()
    await running


ODD_LEAVES: dict[str, tuple[str, Callable[[Context], None]]] = {
    "at once": ("comments { n author { name } }", _odd("comments", [Comment(n=cast(Any, None))])),
    "in a custom scalar": (
        "comments { day author { name } }",
        _odd("comments", [Comment(n=1, day=cast(Any, "today"))]),
    ),
    "when it comes": ("strictOwner { name }", _odd("owner", User(n=2, name=cast(Any, None)))),
    "in a column that is not all there": ("strictMood", _odd("mood", None)),
}


@pytest.mark.parametrize("odd", ODD_LEAVES)
@pytest.mark.parametrize("run", [ours, theirs])
async def test_an_unusual_leaf_that_makes_the_parent_null_ends_the_awaited_resolvers(
    run: Callable[..., Any], odd: str
) -> None:
    context, (selected, behave) = Context(), ODD_LEAVES[odd]
    context.rank_may = asyncio.Event()
    behave(context)
    query = f"{{ board {{ pins {{ rank {selected} }} }} }}"
    running = asyncio.ensure_future(run(SCHEMA, query, context=context))
    await turns_until(running.done)
    answered = running.result()
    data = answered.data if run is theirs else orjson.loads(answered.data)
    assert data == {"board": None}
    assert len(answered.errors) == 1
    if run is ours:
        assert context.cancelled == 1


async def test_a_cancelled_request_ends_the_awaited_bulk_resolvers() -> None:
    context = Context()
    context.rank_may, context.owners.may = asyncio.Event(), asyncio.Event()
    running = asyncio.ensure_future(ours(SCHEMA, QUERY, context=context))
    await turns_until(lambda: context.owners.batches)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert context.cancelled == 1
    context.owners.may.set()


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1])
async def test_more_objects_than_a_slice_give_the_same_outcome(count: int) -> None:
    await answer(f"{{ board(count: {count}) {{ pins {{ n image {{ n }} owner {{ name }} }} }} }}")

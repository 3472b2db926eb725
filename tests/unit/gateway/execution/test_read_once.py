"""Each attribute of an object is read once, before the resolvers of the object's fields are called:
usual values, which compiled code reads, and unusual values."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import strawberry
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
)
from strawberry.types import Info

from gateway.execution.levels.slices import SLICE
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import both, ours

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Context:
    """The values that resolvers give for each row; `reads` counts reads of attributes."""

    def __init__(self, count: int = 5) -> None:
        self.reads: Counter[str] = Counter()
        self.count = count
        self.name: Callable[[int], Any] = lambda n: f"name {n}"
        self.size: Callable[[int], Any] = lambda n: n
        self.turns: Callable[[int], int] = lambda n: 1
        self.friend: Callable[[int], Any] = lambda n: Counted(self, n + 100)

    def read(self, name: str, n: int) -> None:
        self.reads[f"{name} {n}"] += 1


@bulk
async def row_size(context: Context, rows: Sequence[Any]) -> Sequence[Any]:
    await asyncio.sleep(0)
    return [context.size(row.key) for row in rows]


@strawberry.type
class Row:
    n: int
    name: str
    note: str | None
    size: int | None = field_of(row_size, "A size that is awaited.")
    strict_size: int = field_of(row_size, "The same, never null.")

    @strawberry.field
    async def friend(self, info: Info[Any, None]) -> "Row | None":
        key = self.key  # type: ignore[attr-defined]
        for _ in range(info.context.turns(key)):
            await asyncio.sleep(0)
        return info.context.friend(key)  # type: ignore[no-any-return]

    @strawberry.field
    def path(self, info: Info[Any, None]) -> str:
        """The key of the row. The resolver reads its path."""
        return str(info.path.key)


class Counted(Row):
    """A row whose attributes are properties that count how often they are read."""

    def __init__(self, context: Context, key: int) -> None:
        self.context, self.key = context, key

    @property
    def n(self) -> int:  # type: ignore[override]
        self.context.read("n", self.key)
        return self.key

    @property
    def name(self) -> Any:  # type: ignore[override]
        self.context.read("name", self.key)
        value = self.context.name(self.key)
        if isinstance(value, Exception):
            raise value
        return value

    @property
    def note(self) -> str:  # type: ignore[override]
        self.context.read("note", self.key)
        return "note"


@strawberry.type
class Query:
    @strawberry.field
    def rows(self, info: Info[Any, None]) -> list[Row | None]:
        return [Counted(info.context, n) for n in range(info.context.count)]

    @strawberry.field
    def row(self, info: Info[Any, None]) -> Row | None:
        return Counted(info.context, 0)


SCHEMA = strawberry.Schema(Query)._schema


def raising(n: int) -> Any:
    return ValueError("no name")


def late(n: int) -> Any:
    async def name() -> str:
        await asyncio.sleep(0)
        return f"late {n}"

    return name()


NAMES: dict[str, Callable[[int], Any]] = {
    "usual": lambda n: f"name {n}",
    "null": lambda n: None,
    "of another class": lambda n: 7,
    "raised": raising,
    "awaited": late,
}
SIZES: dict[str, Callable[[int], Any]] = {"usual": lambda n: n, "too large": lambda n: 2**40}
QUERIES = [
    *("{ rows { n name note } }", "{ row { name n } }", "{ rows { path name note } }"),
    *("{ rows { n size name note } }", "{ rows { name strictSize } }"),
    *("{ rows { name friend { n name } } }", "{ rows { path friend { path name note } size } }"),
    "{ rows { friend { name size friend { n strictSize } } name } }",
]


def once(context: Context) -> bool:
    assert context.reads
    return set(context.reads.values()) == {1}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
async def test_each_attribute_is_read_once(name: str, size: str, query: str) -> None:
    contexts: list[Context] = []

    def new_context() -> Context:
        contexts.append(context := Context())
        usual, unusual = context.name, NAMES[name]
        context.name = lambda n: unusual(n) if n % 100 == 3 or n == 0 else usual(n)
        context.size = lambda n: SIZES[size](n) if n % 100 == 2 else n
        return context

    await both(SCHEMA, query, None, new_context)
    assert once(contexts[0]), contexts[0].reads


@pytest.mark.parametrize("turns", [[0, 1, 1, 0], [3, 0, 2, 1], [1, 1, 1, 9], [2, 1, 2, 2]])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("friends", ["all", "some are null", "an error", "another class"])
@pytest.mark.parametrize("query", ["{ rows { n friend { name n } } }"])
async def test_rows_that_arrive_one_after_the_other_are_read_once(
    query: str, friends: str, name: str, turns: list[int]
) -> None:
    contexts: list[Context] = []

    def new_context() -> Context:
        contexts.append(context := Context(4))
        usual, unusual, friend = context.name, NAMES[name], context.friend
        other = {"all": None, "some are null": None, "an error": ValueError("no friend")}
        context.name = lambda n: unusual(n) if n == 102 else usual(n)
        context.turns = lambda n: turns[n]
        if friends != "all":
            context.friend = lambda n: other.get(friends, "nobody") if n == 1 else friend(n)
        return context

    await both(SCHEMA, query, None, new_context)
    assert once(contexts[0]), contexts[0].reads


@pytest.mark.parametrize("query", ["{ rows { n size name } }", "{ rows { path note name } }"])
async def test_attributes_of_a_large_level_are_read_once(query: str) -> None:
    context = Context(SLICE + 5)
    usual = context.name
    context.name = lambda n: None if n == SLICE + 1 else usual(n)
    outcome = await ours(SCHEMA, query, None, context)
    assert len(outcome.errors) == 1
    assert once(context), context.reads


class Keyed:
    """An object for graphql-core's default resolver, which calls what it finds."""

    def __init__(self, reads: Counter[str], key: int) -> None:
        self.reads, self.key = reads, key

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self.reads[f"{name} {self.key}"] += 1
        if self.key == 2:
            raise ValueError("none")
        return (lambda info: info.path.key) if name == "called" else f"{name} {self.key}"


@pytest.mark.parametrize("query", ["{rows{a called}}", "{rows{b a}}", "{faces{a ...on Row{b}}}"])
async def test_attributes_for_the_default_resolver_are_read_once(query: str) -> None:
    face = GraphQLInterfaceType(
        "Face", {"a": GraphQLField(GraphQLString)}, resolve_type=lambda *_: "Row"
    )
    row = GraphQLObjectType(
        "Row",
        {
            "a": GraphQLField(GraphQLString),
            "b": GraphQLField(GraphQLNonNull(GraphQLString)),
            "called": GraphQLField(GraphQLString),
        },
        interfaces=[face],
    )
    reads: Counter[str] = Counter()

    def rows(*_: Any) -> list[Any]:
        reads.clear()
        return [
            *(Keyed(reads, n) for n in range(4)),
            {"a": 1, "b": 2.5, "called": lambda info: "called"},
        ]

    fields = {
        "rows": GraphQLField(GraphQLList(row), resolve=rows),
        "faces": GraphQLField(GraphQLList(face), resolve=rows),
        "one": GraphQLField(GraphQLInt),
    }
    schema = GraphQLSchema(GraphQLObjectType("Query", fields), types=[row])
    await ours(schema, query)
    assert set(reads.values()) == {1}, reads


@strawberry.type
class Increasing:
    value: int = 0

    @strawberry.field
    def added(self) -> int:
        self.value += 1
        return 1

    @strawberry.field
    async def later(self) -> int:
        self.value += 1
        await asyncio.sleep(0)
        self.value += 1
        return 1

    @strawberry.field
    def path(self, info: Info[Any, None]) -> str:
        self.value += 1
        return str(info.path.key)


@strawberry.type
class Counters:
    @strawberry.field
    def counters(self) -> list[Increasing]:
        return [Increasing() for _ in range(3)]


@pytest.mark.parametrize(
    "query",
    ["value added", "added value", "value later", "later value", "path value later", "value path"],
)
async def test_attributes_are_read_before_the_resolvers_are_called(query: str) -> None:
    outcome = await ours(
        strawberry.Schema(Counters)._schema, f"{{counters{{{query}}}}}", root=Counters()
    )
    counters = json.loads(outcome.data or b"")["counters"]
    assert [counter["value"] for counter in counters] == [0, 0, 0]


async def test_the_attributes_of_one_object_are_read_one_after_the_other() -> None:
    """A row's attributes are read before the next row's."""
    order: list[str] = []

    class Noting(Context):
        def read(self, name: str, n: int) -> None:
            order.append(f"{name} {n}")

    for query in ("{ rows { n name size } }", "{ rows { n path name } }"):
        order.clear()
        await ours(SCHEMA, query, None, Noting(2))
        assert order == ["n 0", "name 0", "n 1", "name 1"]

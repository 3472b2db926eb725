"""A null propagates to the same position as with graphql-core, also in lists of lists."""

import asyncio
import itertools
from typing import Any

import orjson
import pytest
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
)

from tests.unit.gateway.execution.engines import both, ours, theirs

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Bad:
    """A value that is an error at its own position."""

    def __init__(self, how: str) -> None:
        self.how = how


def wrap(type_: Any, nonnull: tuple[bool, ...]) -> Any:
    """Wraps a type in lists. Each flag says whether one level, from the outside in, is non-null;
    the number of lists is one less than the number of flags."""
    for level, flag in enumerate(reversed(nonnull)):
        if level:
            type_ = GraphQLList(type_)
        if flag:
            type_ = GraphQLNonNull(type_)
    return type_


def spoil(value: Any, how: str) -> Any:
    if isinstance(value, Bad):
        return None if how == "null" else ValueError("bad")
    if isinstance(value, list):
        return [spoil(item, how) for item in value]
    return value


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    if isinstance(value, Exception):
        raise value
    return value


VALUES = [[[1, 2], [3, Bad("")]], [[1], Bad("")], [[], []], Bad(""), [[Bad(""), Bad("")], Bad("")]]


@pytest.mark.parametrize("nonnull", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("how", ["null", "error"])
@pytest.mark.parametrize("when", ["now", "later", "items later"])
@pytest.mark.parametrize("leaf", [True, False])
async def test_nulls_and_errors_in_lists(
    nonnull: tuple[bool, ...], how: str, when: str, leaf: bool
) -> None:
    n = GraphQLField(GraphQLInt, resolve=lambda obj, _: obj)
    item: Any = GraphQLInt if leaf else GraphQLObjectType("Item", {"n": n})

    def resolve(number: int, info: Any) -> Any:
        value = spoil(VALUES[number], how)
        if when == "now":
            return value
        if when == "items later" and isinstance(value, list):
            return [later(part) for part in value]
        return later(value)

    row = GraphQLObjectType(
        "Row",
        {
            "value": GraphQLField(wrap(item, nonnull), resolve=resolve),
            "n": GraphQLField(GraphQLInt, resolve=lambda obj, _: obj),
        },
    )
    rows = GraphQLField(GraphQLList(row), resolve=lambda *_: list(range(len(VALUES))))
    strict = GraphQLField(
        GraphQLList(GraphQLNonNull(row)), resolve=lambda *_: list(range(len(VALUES)))
    )
    schema = GraphQLSchema(GraphQLObjectType("Query", {"rows": rows, "strict": strict}))
    fields = "{n value}" if leaf else "{n value{n}}"
    if when == "now":  # otherwise graphql-core's choice of errors depends on timing
        await both(schema, f"{{rows {fields} strict {fields}}}")
    else:
        for number in range(len(VALUES)):
            one = GraphQLField(row, resolve=lambda *_, number=number: number)
            schema = GraphQLSchema(GraphQLObjectType("Query", {"one": one}))
            outcome = await ours(schema, f"{{one {fields}}}")
            result = await theirs(schema, f"{{one {fields}}}")
            assert orjson.dumps(result.data) == outcome.data
            assert {e.message for e in outcome.errors} == {e.message for e in result.errors or ()}

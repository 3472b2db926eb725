"""A field calls its resolver, plain or bulk, with any executor."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import strawberry
from strawberry.types import Info

from loaders.bulk import Resolver, bulk
from schema.fields import field


@dataclass
class Row:
    n: int


@bulk
async def doubled(context: Any, rows: Sequence[Row], *, first: int = 2) -> list[Any]:
    context.calls.append(len(rows))
    return [ValueError(f"no {row.n}") if row.n == 2 else first * row.n for row in rows]


@bulk
async def short(context: Any, rows: Sequence[Row]) -> list[int]:
    return []


@bulk
async def single(context: Any, rows: Sequence[Row]) -> int:
    return 1


@strawberry.type
class Item:
    doubled: int | None = field(doubled, "Twice.")
    short: int | None = field(short, "Too few.")
    single: int | None = field(single, "Not a sequence.")


@strawberry.type
class Query:
    @strawberry.field
    def items(self, info: Info) -> list[Item]:
        return [Row(1), Row(2), Row(3)]  # type: ignore[list-item]


def run(query: str) -> tuple[Any, Any, list[int]]:
    context = SimpleNamespace(calls=[])
    result = asyncio.run(strawberry.Schema(Query).execute(query, context_value=context))
    return result.data, result.errors, context.calls


def test_a_bulk_resolver_answers_one_parent_at_a_time_elsewhere() -> None:
    data, errors, calls = run("{items{doubled b:doubled(first:5) c:doubled(first:null)}}")
    assert data == {
        "items": [
            {"doubled": 2, "b": 5, "c": 2},
            {"doubled": None, "b": None, "c": None},
            {"doubled": 6, "b": 15, "c": 6},
        ]
    }
    assert sorted((error.message, error.path) for error in errors) == [
        ("no 2", ["items", 1, "b"]),
        ("no 2", ["items", 1, "c"]),
        ("no 2", ["items", 1, "doubled"]),
    ]
    assert calls == [1] * 9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("short", "short is bulk: it gave 0 values for 1 parents"),
        ("single", "single is bulk: a sequence was expected of it, not int"),
    ],
)
def test_a_bulk_resolver_that_gives_no_value_each_is_an_error(name: str, message: str) -> None:
    data, errors, _ = run(f"{{items{{{name}}}}}")
    assert data == {"items": [{name: None}] * 3}
    assert {error.message for error in errors} == {message}


def test_a_bulk_resolver_needs_parents() -> None:
    @bulk
    async def rootless(context: Any) -> list[int]:
        return []

    with pytest.raises(TypeError, match="rootless is bulk, but takes no parents"):
        field(rootless, "No parents.")


def test_a_field_says_what_it_calls() -> None:
    assert field(doubled, "Twice.").metadata["resolver"] == Resolver(doubled, True, bulk=True)

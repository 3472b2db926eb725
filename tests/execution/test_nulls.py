"""Null propagation from nulls and errors of non-null fields (after graphql-core's tests)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.execution.answering import answer

SDL = """
type Query {
  sync: String syncNonNull: String! promise: String promiseNonNull: String!
  syncNest: Query syncNonNullNest: Query! promiseNest: Query promiseNonNullNest: Query!
}
"""
LEAVES = ("sync", "syncNonNull", "promise", "promiseNonNull")


class Nulling:
    """An object whose leaves are null, and whose nested objects are of the same class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in (*LEAVES, *NESTS):
            raise AttributeError(name)
        return self._later(name) if name.startswith("promise") else lambda info: self._now(name)

    def _now(self, name: str) -> Any:
        return type(self)() if name in NESTS else self._leaf(name)

    def _later(self, name: str) -> Any:
        async def resolve(info: Any) -> Any:
            return self._now(name)

        return resolve

    def _leaf(self, name: str) -> Any:
        return None


class Throwing(Nulling):
    def _leaf(self, name: str) -> Any:
        raise RuntimeError(name)


NESTS = ("syncNest", "syncNonNullNest", "promiseNest", "promiseNonNullNest")


def reason(root: type[Nulling], leaf: str) -> str:
    nulls = f"Cannot return null for non-nullable field Query.{leaf}."
    return nulls if root is Nulling else leaf


def chains() -> Iterator[tuple[list[str], str]]:
    """Returns the paths from an object down to a leaf, over up to `depth` nested objects."""
    for leaf in LEAVES:
        yield [], leaf
        for nest in NESTS:
            yield [nest], leaf
            for below in NESTS[1::2]:
                yield [nest, below], leaf
        yield ["syncNest", "syncNonNullNest", "promiseNonNullNest", "syncNonNullNest"], leaf
        yield ["promiseNest", "promiseNonNullNest", "syncNonNullNest", "promiseNonNullNest"], leaf


@pytest.mark.parametrize("root", [Nulling, Throwing])
@pytest.mark.parametrize(("nests", "leaf"), list(chains()), ids=lambda v: ".".join(v) or "-")
def test_a_null_propagates_to_the_nearest_nullable_position(
    root: type[Nulling], nests: list[str], leaf: str
) -> None:
    path = [*nests, leaf]
    query = "{ " + " { ".join(path) + " }" * len(path)
    strict = "NonNull" in leaf
    errors = [(reason(root, leaf), list[str | int](path))] if strict or root is Throwing else []
    nulled = path
    while nulled and "NonNull" in nulled[-1] and errors:
        nulled = nulled[:-1]
    data: Any = None
    for name in reversed(nulled):
        data = {name: data}
    answer(SDL, query, root=root, data=data, errors=errors)


def test_a_tree_of_nullable_fields_has_an_error_for_each() -> None:
    leaves = "sync promise"
    inner = f"{leaves} syncNest {{ {leaves} }} promiseNest {{ {leaves} }}"
    query = f"{{ syncNest {{ {inner} }} promiseNest {{ {inner} }} }}"
    empty = {"sync": None, "promise": None}
    half = {**empty, "syncNest": empty, "promiseNest": empty}
    data = {"syncNest": half, "promiseNest": half}
    paths: list[list[str | int]] = [
        [top, *middle, leaf]
        for top in ("syncNest", "promiseNest")
        for middle in ([], ["syncNest"], ["promiseNest"])
        for leaf in ("sync", "promise")
    ]
    answer(SDL, query, root=Nulling, data=data, errors=[])
    answer(SDL, query, root=Throwing, data=data, errors=[(str(p[-1]), p) for p in paths])


@pytest.mark.parametrize("leaf", ["syncNonNull", "promiseNonNull"])
@pytest.mark.parametrize("root", [Nulling, Throwing])
def test_a_null_of_a_non_null_root_field_makes_the_data_null(
    root: type[Nulling], leaf: str
) -> None:
    outcome = answer(
        SDL, f"{{ {leaf} }}", root=root, data=None, errors=[(reason(root, leaf), [leaf])]
    )
    assert outcome.started


MANY = [
    "{ syncNonNull promiseNonNull }",
    "{ sync syncNonNull promise promiseNonNull }",
    "{ nest: syncNest { syncNonNull other: promiseNonNull sync promise } }",
    "{ promiseNest { a: promiseNonNull b: promiseNonNull c: syncNest { syncNonNull sync } } }",
    "{ promiseNonNullNest { promiseNonNullNest { sync } syncNonNull } promise }",
    "{ promiseNest { promiseNest { promise } promiseNonNullNest { promiseNonNull } } sync }",
]


@pytest.mark.parametrize("query", MANY)
def test_one_error_is_reported_for_a_parent_that_several_errors_make_null(query: str) -> None:
    answer(SDL, query, root=Throwing)
    answer(SDL, query, root=Nulling)


ARGUMENTS = [
    ('{ f(a: "x") }', None, "Passed: x", None),
    ("query ($v: String!) { f(a: $v) }", {"v": "y"}, "Passed: y", None),
    ('query ($v: String = "z") { f(a: $v) }', None, "Passed: z", None),
    ("{ f }", None, None, "was not provided"),
    ("{ f(a: null) }", None, None, "null"),
    ("query ($v: String) { f(a: $v) }", None, None, "$v"),
    ("query ($v: String) { f(a: $v) }", {"v": None}, None, "null"),
]


@pytest.mark.parametrize(("query", "variables", "value", "says"), ARGUMENTS)
def test_null_for_a_non_null_argument_is_an_error(
    query: str, variables: Any, value: str | None, says: str | None
) -> None:
    class Root:
        def f(self, info: Any, a: str) -> str:
            return f"Passed: {a}"

    outcome = answer(
        "type Query { f(a: String!): String }",
        query,
        root=Root(),
        variables=variables,
        data={"f": value},
    )
    assert all(says is not None and says in error.message for error in outcome.errors)
    assert bool(says) == bool(outcome.errors)

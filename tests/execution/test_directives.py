"""@skip and @include, in each location that allows them (after graphql-core's tests)."""

import itertools
from types import SimpleNamespace

import pytest

from tests.execution.answering import answer

SDL = "type Query { a: String b: String nest: Query }"
WHERE = [
    "a b {0}",
    "a ... on Query {0} {{ b }}",
    "a ... {0} {{ b }}",
    "a ...F {0}",
    "b {0} ... on Query {{ a }}",
    "nest {{ b {0} }} a",
    "nest {0} {{ a }} nest {{ b {0} }} a",
    "b {0} b {0} a",
    "b {0} b a",
]


@pytest.mark.parametrize("where", WHERE)
def test_skipped_fields_are_absent_and_included_fields_present(where: str) -> None:
    root = SimpleNamespace(a="a", b="b", nest=SimpleNamespace(a="a", b="b"))
    flags = [None, True, False]
    for skip, include, by_variable in itertools.product(flags, flags, (False, True)):
        directives, variables, declared = "", {}, []
        for name, flag in (("skip", skip), ("include", include)):
            if flag is not None:
                value = f"${name}" if by_variable else str(flag).lower()
                directives += f" @{name}(if: {value})"
                variables[name] = flag
                declared.append(f"${name}: Boolean!")
        head = f"query ({', '.join(declared)})" if declared and by_variable else ""
        query = head + "{ " + where.format(directives) + " }"
        if "...F" in query:
            query += " fragment F on Query { b }"
        outcome = answer(SDL, query, root=root, variables=variables if by_variable else None)
        shown = (skip is not True and include is not False) or where == "b {0} b a"
        if where.count("{0}") == 1 and "nest" not in where:
            assert outcome.data == (
                (b'{"b":"b","a":"a"}' if where.startswith("b") else b'{"a":"a","b":"b"}')
                if shown
                else b'{"a":"a"}'
            )


@pytest.mark.parametrize("value", [{}, {"x": True}, {"x": False}, {"x": None}])
def test_the_default_of_a_variable_applies_to_skip_and_include(value: dict[str, bool]) -> None:
    root = SimpleNamespace(a="a", b="b")
    query = "query ($x: Boolean = false) { a b @include(if: $x) }"
    answer(SDL, query, root=root, variables=value)


def test_skipping_everything_leaves_an_empty_object() -> None:
    answer(SDL, "{ a @skip(if: true) }", data={}, errors=[])
    root = SimpleNamespace(nest=SimpleNamespace())
    answer(SDL, "{ nest { a @skip(if: true) } }", root=root, data={"nest": {}}, errors=[])

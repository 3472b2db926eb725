"""@skip and @include, in each location that allows them (after graphql-core's tests)."""

import asyncio
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import build_schema, parse

from tests.execution.answering import answer
from tests.execution.comparing import new_engine

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


TREE = """
type Query { a: String tree: Tree trees: [Tree!] nodes: [Node] strict: Tree! }
type Mutation { a: String tree: Tree last: String }
interface Node { b: String }
type Tree implements Node { b: String tree: Tree trees: [Tree!] strict: Tree! }
"""
NULL = [
    "a @include(if: $x)",
    "a tree @skip(if: $x) { b }",
    "a tree { b @include(if: $x) }",
    "tree { trees { b @skip(if: $x) } }",
    "a trees { b @include(if: $x) b }",
    "trees { tree { b @include(if: $x) tree { b } } b }",
    "a strict { b @include(if: $x) }",
    "tree { b strict { b @include(if: $x) } }",
    "nodes { b ... on Tree @include(if: $x) { tree { b } } }",
    "nodes { ... on Tree { tree { ...F } } } ",
    "tree { ... @include(if: false) { b @include(if: $x) } b }",
    "trees { b } tree { trees { b @include(if: $x) } trees { b } }",
    "tree { ...F @include(if: $x) }",
]


@pytest.mark.parametrize("selected", NULL)
@pytest.mark.parametrize("kind", ["query", "mutation"])
@pytest.mark.parametrize("count", [2, 600])
def test_a_null_for_skip_or_include_fails_each_object_that_has_it(
    selected: str, kind: str, count: int
) -> None:
    if kind == "mutation" and any(name in selected for name in ("trees", "strict", "nodes")):
        selected = "a tree { b @include(if: $x) } last: a"
    leaf = SimpleNamespace(b="b", tree=None, trees=[], strict=None, __typename="Tree")
    tree = SimpleNamespace(b="b", tree=leaf, trees=[leaf] * 3, strict=leaf)
    root = SimpleNamespace(
        a="a", tree=tree, trees=[tree] * count, nodes=[tree, None] * count, strict=tree
    )
    schema = build_schema(TREE)
    node: Any = schema.type_map["Node"]
    node.resolve_type = lambda *_: "Tree"
    query = f"{kind} ($x: Boolean = true) {{ {selected} }}"
    if "...F" in query:
        query += " fragment F on Tree { b @include(if: $x) tree { b } }"
    outcome = answer(schema, query, root=root, variables={"x": None})
    assert outcome.errors or "if: false" in query


def test_a_null_for_skip_does_not_fall_back_to_graphql_core() -> None:
    engine = new_engine(build_schema(TREE))
    plan = engine.compile(parse("query ($x: Boolean = true) { tree { b @skip(if: $x) } }"))
    root = SimpleNamespace(tree=SimpleNamespace(b="b"))
    for value in (None, True, None, False):
        outcome = asyncio.run(plan.run(root=root, variables={"x": value}))
        assert len(outcome.errors) == (value is None)
    assert engine.fallbacks == 0

"""Documents are checked against the limits before validation. Pinway's own operations are within
the limits."""

from dataclasses import replace

import pytest
from graphql import get_introspection_query, parse

from gateway.documents.limits import MOST, RESPONSE_NAME, measured
from gateway.settings import Settings
from gateway.site.executors import limits_of
from tests.unit.test_architecture import ROOT

LIMITS = limits_of(Settings())


def fan_out(levels: int, aliases: int = 3) -> str:
    """Returns a document whose fragments expand to `aliases ** levels` paths."""
    parts = ['{ board(id: "1") { ...F0 } }']
    for level in range(levels):
        type_, field = ("Board", "cover") if level % 2 == 0 else ("Pin", "board")
        fields = " ".join(f"x{n}: {field} {{ ...F{level + 1} }}" for n in range(aliases))
        parts.append(f"fragment F{level} on {type_} {{ {fields} }}")
    parts.append(f"fragment F{levels} on {'Board' if levels % 2 == 0 else 'Pin'} {{ id }}")
    return " ".join(parts)


def messages(text: str, **bounds: object) -> list[str]:
    limits = replace(LIMITS, **bounds)  # type: ignore[arg-type]
    return [error.message for error in measured(parse(text)).errors(limits)]


def test_the_selections_of_a_fragment_count_at_each_spread() -> None:
    one = measured(parse("{ a ...F } fragment F on Query { b: c }")).selections
    assert one == {None: 3}
    two = measured(parse("query Q { ...F ...F ... { ...F } } fragment F on Query { b }")).selections
    assert two == {"Q": 7}


def test_an_operation_of_millions_of_paths_is_refused_with_its_count() -> None:
    found = messages(fan_out(12))
    assert found == [
        "The operation has 2,125,763 selections, with its fragments where they are spread: at most "
        "2,000 are allowed.",
        "The operation has 797,160 aliases, with its fragments where they are spread: at most 100 "
        "are allowed.",
    ]


def test_a_chain_of_hundreds_of_fragments_is_counted_without_recursion() -> None:
    counts = measured(parse(fan_out(600)))
    assert counts.selections == {None: MOST}
    assert f"{MOST:,} or more selections" in messages(fan_out(600))[1]


def test_cycles_and_unknown_fragments_are_left_to_validation() -> None:
    text = "{ ...A ...Z } fragment A on Query { a ...B } fragment B on Query { b ...A ...B }"
    assert messages(text) == []


@pytest.mark.parametrize(
    ("text", "bound", "count", "words"),
    [
        ("{ a b ...F } fragment F on Query { c }", "root_fields", 3, "root fields"),
        ("{ a: b c { d: e } ...F } fragment F on Query { f: g }", "aliases", 3, "aliases"),
        ("query Q @a { b @c @d ... @e { f } }", "directives", 4, "directives"),
        ("query Q($v: Int @a) { ...F @b } fragment F on Query @c { d }", "directives", 3, "direct"),
        ("query A { a } query B { a } { a }", "operations", 3, "operations"),
        ("{ a { b ...F } } fragment F on A { c { d } }", "depth", 3, "deep"),
        ("{ a { b } c }", "selections", 3, "selections"),
    ],
)
def test_a_count_may_reach_its_limit_but_not_exceed_it(
    text: str, bound: str, count: int, words: str
) -> None:
    assert messages(text, **{bound: count}) == []
    (found,) = messages(text, **{bound: count - 1})
    assert words in found
    assert str(count) in found
    assert found.endswith(f"at most {count - 1} are allowed.")


def test_introspection_fields_do_not_count_as_depth() -> None:
    text = "{ __schema { types { fields { type { ofType { ofType { name } } } } } } a { b } }"
    assert messages(text, depth=2) == []


@pytest.mark.parametrize(
    "text",
    [
        "{ __schema { types { name } } }",
        '{ a: __type(name: "User") { name } }',
        "{ viewer { id } ...F } fragment F on Query { ... { __schema { types { name } } } }",
    ],
)
def test_introspection_can_be_switched_off(text: str) -> None:
    assert messages(text) == []
    (found,) = messages(text, introspection=False)
    assert "introspection is switched off" in found


def test_typename_does_not_count_as_introspection() -> None:
    assert messages("{ __typename viewer { __typename } }", introspection=False) == []


@pytest.mark.parametrize(
    "text",
    [
        "{{ {name}: a }}",
        "{{ {name} }}",
        "{{ a {{ b {{ {name}: c }} }} }}",
        "{{ ...F }} fragment F on Query {{ a {{ ... {{ {name}: b }} }} }}",
        "query A {{ a }} query B {{ {name}: a }}",
    ],
)
def test_a_response_name_has_a_limit(text: str) -> None:
    assert messages(text.format(name="x" * RESPONSE_NAME)) == []
    (found,) = messages(text.format(name="x" * (RESPONSE_NAME + 1)))
    assert found == (
        f"The response name '{'x' * 60}...' has 256 characters: at most 255 are allowed."
    )


def texts_of_clients() -> dict[str, str]:
    """Returns the operations that Pinway ships, and the operations of the clients' tests."""
    found = {"introspection": get_introspection_query(input_value_deprecation=True)}
    for folder in ("gateway/samples", "tests/outside/node", "bench"):
        for path in sorted((ROOT / folder).rglob("*.graphql")):
            if "node_modules" not in path.parts:
                found[str(path.relative_to(ROOT))] = path.read_text()
    return found


@pytest.mark.parametrize("name", texts_of_clients())
def test_no_operation_of_pinway_or_of_a_client_is_refused(name: str) -> None:
    text = texts_of_clients()[name]
    ast = parse(text, max_lexical_tokens=LIMITS.tokens, max_source_length=LIMITS.length)
    assert measured(ast).errors(LIMITS) == []

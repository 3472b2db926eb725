"""Attacks by documents that take long to parse, validate or compile."""

from __future__ import annotations

from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.attacks.shapes import SHAPES, fan_out, merging
from bench.abuse.attacks.wire import get, post
from bench.abuse.site import Facts


def nested(facts: Facts, number: int) -> str:
    return fan_out(facts.boards[0], f"_{number}")


def refused(facts: Facts, number: int) -> str:
    """Fields to merge beside an unknown field: long to validate."""
    return merging(f" u{number}")


def unique_valid(facts: Facts, number: int) -> str:
    """A new valid document of some hundred fields in each request."""
    fields = " ".join(f"a{n}_{number}: username" for n in range(90))
    return f"query Q{number} {{ viewer {{ {fields} {'id fullName ' * 400} }} }}"


def small(facts: Facts, number: int) -> str:
    """A new valid document in each request, short enough to be read at once."""
    fields = " ".join(f"a{n}x{number}: id" for n in range(24))
    return f"{{ viewer {{ {fields} }} }}"


def _other_variants(facts: Facts, number: int) -> bytes:
    """One document, with other values of @include each time."""
    fields = " ".join(
        f"a{n}: boards(first: 1) @include(if: $v{n % 12}) {{ edges {{ node {{ id name }} }} }}"
        for n in range(28)
    )
    declared = ", ".join(f"$v{n}: Boolean!" for n in range(12))
    variables = {f"v{n}": bool(number >> n & 1) for n in range(12)}
    return post({"query": f"query ({declared}) {{ {fields} }}", "variables": variables})


def _wrong_variables(facts: Facts, number: int) -> bytes:
    """An input of 11,000 unknown fields, with names like the existing fields."""
    given = {f"descriptio{'n' * (n % 40)}{n}": number for n in range(11_000)}
    query = "mutation ($i: CreatePinInput!) { createPin(input: $i) { pin { id } } }"
    return post({"query": query, "variables": {"i": given}})


def _marks(facts: Facts, number: int) -> bytes:
    """A name of n combining marks, which takes n² steps to normalize."""
    given = {"username": f"marks{number}", "fullName": "a" + "\u0301\u0327" * 75_000}
    query = "mutation ($i: SignUpInput!) { signUp(input: $i) { token } }"
    return post({"query": query, "variables": {"i": given}})


def _unknown_operation(facts: Facts, number: int) -> bytes:
    return post({"query": "query A { __typename }", "operationName": f"{number}" + "x" * 500_000})


def any_nested(facts: Facts, number: int) -> str:
    """Fragments that double on each of 16 levels, with introspection fields only: for any
    server."""
    parts = ["{ __schema { types { ...F0 } } }"]
    for level in range(6):
        parts.append(
            f"fragment F{level} on __Type {{ a{number}: ofType {{ ...F{level + 1} }} "
            f"b{number}: ofType {{ ...F{level + 1} }} c{number}: ofType {{ ...F{level + 1} }} }}"
        )
    return " ".join([*parts, "fragment F6 on __Type { name }"])


def introspection(facts: Facts, number: int) -> str:
    """Introspection that multiplies: the types of the fields of the types."""
    inner = f"name a{number}: description"
    for _ in range(3):
        inner = f"fields {{ name type {{ name ofType {{ name {inner} }} {inner} }} }}"
    return f"{{ __schema {{ types {{ name {inner} }} }} }}"


def _shape(name: str) -> Callable[[Facts, int], str]:
    text = SHAPES[name](5_000)

    def unique(facts: Facts, number: int) -> str:
        return f"#{number}\n{text}"

    return unique


def _posted(document: Callable[[Facts, int], str]) -> Callable[[Facts, int], bytes]:
    return lambda facts, number: post({"query": document(facts, number)})


def _got(document: Callable[[Facts, int], str]) -> Callable[[Facts, int], bytes]:
    return lambda facts, number: get(document(facts, number))


OWN = {
    "many root fields": "aliased roots",
    "documents: unknown fields": "unknown fields",
    "documents: overlapping fields": "conflicts",
    "documents: cycles of fragments": "cycle of fragments",
    "documents: directives": "directives on fields",
    "documents: a long string": "escaped string",
    "documents: long names": "long names",
    "documents: comments": "comments",
    "documents: a deep list": "nested list",
    "documents: deep fields": "deep",
    "documents: many operations": "operations on one chain",
    "documents: variables": "variables",
}
"""Attacks with the shapes of `shapes.py`."""
_ANYWHERE = {
    "many root fields",
    "documents: directives",
    "documents: long names",
    "documents: comments",
    "documents: variables",
}

ATTACKS: list[Attack] = [
    flood("nested fragments and aliases, POST", _posted(nested)),
    flood("nested fragments and aliases, GET", _got(nested)),
    flood("nested fragments of introspection", _posted(any_nested), anywhere=True),
    flood("refused unique documents", _posted(refused), anywhere=True),
    flood("unique valid documents", _posted(unique_valid)),
    flood("small unique documents", _posted(small)),
    flood("other values of @include", _other_variants),
    flood("11,000 unknown fields of an input", _wrong_variables, 8),
    flood("a name of 150,000 marks", _marks, 8),
    flood("unknown operations of 500 KB", _unknown_operation, 8, anywhere=True),
    flood("introspection that multiplies", _posted(introspection), anywhere=True),
    *(
        flood(name, _posted(_shape(shape)), anywhere=name in _ANYWHERE)
        for name, shape in OWN.items()
    ),
]

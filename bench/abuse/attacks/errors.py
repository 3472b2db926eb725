"""Attacks by operations whose answers are errors and nulls."""

from __future__ import annotations

from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.attacks.wire import get, post
from bench.abuse.site import Facts

_WRONG = "followers(first: 0) { pageInfo { hasNextPage } }"
"""A field that fails for each parent."""


def _fields(count: int, field: str, name: str = "a") -> str:
    return " ".join(f"{name}{number}: {field}" for number in range(count))


def failing(aliases: int, lines: int = 0, *, newline: str = "\n", name: str = "a") -> str:
    """Errors in 100 users, each with as many aliases, behind empty lines."""
    fields = _fields(aliases, _WRONG, name)
    return f"{newline * lines}{{ users(first: 100) {{ edges {{ node {{ {fields} }} }} }} }}"


def merged(times: int, lines: int) -> str:
    """Errors of fields that are merged from many selections, at one location each."""
    fields = "followers(first: 0) { pageInfo { hasNextPage } } " * times
    return f"{chr(10) * lines}{{ users(first: 100) {{ edges {{ node {{ {fields} }} }} }} }}"


def mixed(aliases: int) -> str:
    """Pages, errors and nulls side by side, inside fragments."""
    return (
        "{ users(first: 50) { edges { node { ...F } } } } fragment F on User { "
        f"{_fields(aliases, _WRONG)} {_fields(aliases, 'viewerFollows', 'n')} "
        "followers(first: 3) { edges { node { ... on User { x: followers(first: -1) { edges { "
        "cursor } } pins(first: 0) { edges { cursor } } } } } } }"
    )


def _filled(text: str, count: int, field: str) -> str:
    """The text with the field, under aliases, in the place of FIELDS."""
    return text.replace("FIELDS", _fields(count, field))


NULL_FLAG = _filled(
    "query ($v: Boolean = true) { FIELDS }",
    30,
    "pins(first: 50) { edges { node { board { owner { id @include(if: $v) } } } } }",
)
"""A null for the variable of @include, below each pin."""
NULL_FLAGS = _filled(
    "query ($v: Boolean = true) { users(first: 100) { edges { node { "
    "FIELDS followers(first: 5) { edges { node { id @skip(if: $v) } } } } } } }",
    60,
    "pinCount @include(if: $v)",
)
NULL_ARGUMENT = _filled(
    "query ($v: Boolean = true) { __schema { types { fields { FIELDS } } } }",
    90,
    "args(includeDeprecated: $v) { name }",
)
"""A null for an argument that can't be null, in each field of the schema."""
LEAVES = _filled(
    "{ FIELDS }",
    30,
    '__type(name: "Query") { name kind description fields { name description args { name '
    "description defaultValue type { name kind } } type { name kind ofType { name kind } } } }",
)
_CURSOR = _filled(
    "query ($c: String) { users(first: 100) { edges { node { FIELDS } } } }",
    40,
    "followers(first: 1, after: $c) { pageInfo { hasNextPage } }",
)


def _posted(document: str, **variables: object) -> Callable[[Facts, int], bytes]:
    """One document, which the gateway knows after its first request."""
    return lambda facts, number: post({"query": document, "variables": variables})


def _unique(document: str) -> Callable[[Facts, int], bytes]:
    """A new document in each request."""
    return lambda facts, number: post({"query": f"{document} #{number}"})


def _got(document: str) -> Callable[[Facts, int], bytes]:
    return lambda facts, number: get(document)


ATTACKS: list[Attack] = [
    flood("errors: behind 20,000 lines", _posted(failing(6, 20_000))),
    flood("errors: behind 20,000 lines, unique", _unique(failing(6, 20_000))),
    flood("errors: behind 190,000 lines", _posted(failing(80, 190_000)), 8),
    flood("errors: behind carriage returns", _posted(failing(80, 150_000, newline="\r")), 8),
    flood("errors: GET", _got(failing(20, 3_000))),
    flood("errors: 8,000 of 100 users", _posted(failing(80))),
    flood("errors: long aliases", _posted(failing(60, name="x" * 240))),
    flood("errors: merged fields", _posted(merged(70, 20_000))),
    flood("errors: pages and nulls beside them", _posted(mixed(30))),
    flood("errors: null for @include", _posted(NULL_FLAG, v=None)),
    flood("errors: null for @skip and @include", _posted(NULL_FLAGS, v=None)),
    flood("errors: null for an argument", _posted(NULL_ARGUMENT, v=None)),
    flood("errors: cursors of each user", _posted(_CURSOR, c="x" * 1_000)),
    flood("errors: long cursors of each user", _posted(_CURSOR, c="x" * 900_000), 8),
    flood("all leaves of a type, 30 times", _posted(LEAVES)),
]

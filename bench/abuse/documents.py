"""Documents of thousands of tokens in many shapes, and the time to refuse or compile each.

`python -m bench.abuse.documents` prints a line for each shape, and the worst time divided by the
median. The shape of an attack is a function here, under `SHAPES`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from graphql import GraphQLSchema, Lexer, Source, TokenKind

from bench.rows import Row
from gateway.documents.cache import Documents, PreparedOperation
from gateway.settings import Settings
from gateway.site.executors import limits_of
from schema import schema

TOKENS = 5_000


def _fill(head: str, piece: Callable[[int], str], tail: str, tokens: int) -> str:
    """A document with as many pieces between head and tail as fit."""
    room = tokens - count(head + tail)
    each = max(count(piece(0)), 1)
    return head + " ".join(piece(n) for n in range(room // each)) + tail


def count(text: str) -> int:
    """The number of tokens in a text, which need not be a whole document."""
    lexer, found = Lexer(Source(text)), 0
    while lexer.advance().kind is not TokenKind.EOF:
        found += 1
    return found


def _fan_out(levels: int, aliases: int, tokens: int) -> str:
    parts = ['{ board(id: "1") { ...F0 } }']
    for level in range(levels):
        on, field = ("Board", "cover") if level % 2 == 0 else ("Pin", "board")
        fields = " ".join(f"x{n}: {field} {{ ...F{level + 1} }}" for n in range(aliases))
        parts.append(f"fragment F{level} on {on} {{ {fields} }}")
    on = "Board" if levels % 2 == 0 else "Pin"
    return _fill(
        " ".join(parts) + f" fragment F{levels} on {on} {{ id ", lambda n: "id", "}", tokens
    )


def _chain(tokens: int) -> str:
    """Operations that all use a long chain of fragments."""
    half = tokens // 2
    fragments = half // 10
    text = " ".join(
        f"fragment F{n} on Query {{ ...F{n + 1} __typename }}" for n in range(fragments)
    )
    text += f" fragment F{fragments} on Query {{ __typename }} "
    return _fill(text, lambda n: f"query Q{n} {{ ...F0 }}", "", tokens)


def _nested(open_: str, close: str, tokens: int, head: str, tail: str) -> str:
    levels = (tokens - count(head + tail)) // 2 // max(count(open_), 1)
    return head + open_ * levels + close * levels + tail


SHAPES: dict[str, Callable[[int], str]] = {
    "wide": lambda n: _fill("{ viewer {", lambda i: "id", "} }", n),
    "aliases": lambda n: _fill("{ viewer {", lambda i: f"a{i}: id", "} }", n),
    "aliased roots": lambda n: _fill("{", lambda i: f"a{i}: __typename", "}", n),
    "few aliases, many fields": lambda n: _fill(
        "{ viewer {", lambda i: f"a{i % 90}: boards {{ edges {{ node {{ id }} }} }}", "} }", n
    ),
    "repeated paths": lambda n: _fill(
        "{", lambda i: "viewer { boards { edges { node { id } } } }", "}", n
    ),
    "repeated paths below a root": lambda n: _fill(
        "{ viewer {", lambda i: "boards { edges { node { id name } } }", "} }", n
    ),
    "deep": lambda n: _nested("boards{edges{node{owner{", "}}}}", n, "{viewer{", "}}"),
    "deep introspection": lambda n: _nested("fields{type{", "}}", n, '{__type(name:"A"){', "}}"),
    "unclosed": lambda n: "{a" * (n // 2),
    "inline fragments": lambda n: _nested("...{", "}", n, "{", "}"),
    "inline fragments, wide": lambda n: _fill(
        "{ viewer {", lambda i: "... on User { id }", "} }", n
    ),
    "fan-out of 3 in 12 levels": lambda n: _fan_out(12, 3, n),
    "fan-out of 2 in 60 levels": lambda n: _fan_out(60, 2, n),
    "fan-out of 40 in 2 levels": lambda n: _fan_out(2, 40, n),
    "operations on one chain": _chain,
    "many operations": lambda n: _fill("", lambda i: f"query Q{i} {{ __typename }}", "", n),
    "many fragments": lambda n: _fill(
        "{ viewer { ...F0 } }", lambda i: f"fragment F{i} on User {{ id }}", "", n
    ),
    "spreads": lambda n: _fill(
        "{ viewer {", lambda i: "...F", "} } fragment F on User { id name: username }", n
    ),
    "cycle of fragments": lambda n: _fill(
        "{ viewer { ...F0 } }",
        lambda i: f"fragment F{i} on User {{ ...F{i + 1} ...F0 }}",
        "",
        n,
    ),
    "directives": lambda n: _fill("{ __typename", lambda i: "@include(if: true)", "}", n),
    "directives on fields": lambda n: _fill(
        "{ viewer {", lambda i: "id @include(if: true)", "} }", n
    ),
    "variables": lambda n: _fill("query (", lambda i: f"$v{i}: ID", ") { viewer { id } }", n),
    "variables used": lambda n: _fill(
        "query ($v: [ID!]!) { viewer {",
        lambda i: "... on User { id @skip(if: $v) }",
        "} }",
        n,
    ),
    "list": lambda n: _fill("{ nodes(ids: [", lambda i: f'"{i}"', "]) { id } }", n),
    "wrong list": lambda n: _fill("{ nodes(ids: [", lambda i: "{a: $b}", "]) { id } }", n),
    "nested list": lambda n: _nested("[", "]", n, "{ nodes(ids: ", ") { id } }"),
    "object": lambda n: _fill(
        "mutation { createBoard(input: {", lambda i: f"x{i}: 1", "}) { board { id } } }", n
    ),
    "arguments": lambda n: _fill("{ board(", lambda i: f"id{i}: 1", ") { id } }", n),
    "long names": lambda n: _fill("{", lambda i: f"viewer{i:030d}", "}", n),
    "unknown fields": lambda n: _fill("{ viewer {", lambda i: f"boardz{i}", "} }", n),
    "few unknown fields": lambda n: _fill(
        "{ viewer { usernamee boardz followerz ", lambda i: "id", "} }", min(n, 1_900)
    ),
    "unknown types": lambda n: _fill("{", lambda i: f"... on Usr{i} {{ id }}", "}", n),
    "conflicts": lambda n: _fill("{ viewer {", lambda i: "a: id a: username", "} }", n),
    "long string": lambda n: '{ node(id: "' + "x" * 190_000 + '") { id } }',
    "escaped string": lambda n: '{ node(id: "' + r"\u0041" * 31_000 + '") { id } }',
    "block string": lambda n: '{ node(id: """' + " x\n" * 60_000 + '""") { id } }',
    "comments": lambda n: "{ __typename " + "#\n" * 95_000 + "}",
    "long comment": lambda n: "{ __typename #" + "x" * 190_000 + "\n}",
    "white space": lambda n: "{ __typename " + " ,\n" * 60_000 + "}",
    "too many tokens": lambda n: "{" + "a " * 99_000 + "}",
    "too long": lambda n: "{ __typename " + " " * 900_000 + "}",
    "types": lambda n: "type A { a: B } " * (n // 8),
    "punctuation": lambda n: "!" * n,
}


@dataclass(frozen=True, slots=True)
class Timing:
    """The processor time of a document in seconds, and its outcome."""

    shape: str
    seconds: float
    outcome: str


def time_documents(
    settings: Settings | None = None,
    *,
    tokens: int = TOKENS,
    rounds: int = 3,
    made: GraphQLSchema | None = None,
) -> list[Timing]:
    """Each shape's time from its text to its compiled plan or its errors: the best of several
    rounds. Each round reads the document again."""
    limits = limits_of(settings or Settings())
    found = []
    for shape, write in SHAPES.items():
        text, best, outcome = write(tokens), float("inf"), ""
        for _ in range(rounds):
            cache = Documents(made or schema._schema, size=1, max_bytes=10**9, limits=limits)
            gc.collect()
            began = time.process_time()
            outcome = _compiled(cache, text)
            best = min(best, time.process_time() - began)
        found.append(Timing(shape, best, outcome))
    return found


def _compiled(cache: Documents, text: str) -> str:
    document = cache.get(text)
    if document.errors:
        return document.errors[0].message.split("\n")[0]
    operation: Any = document.operation(None)
    if not isinstance(operation, PreparedOperation):
        return str(operation.message)
    variant = operation.plan._variant({})
    if variant is not None:
        variant._prepare()
    return "compiled"


def worst_over_median(timings: list[Timing]) -> float:
    """The slowest document's time divided by the median."""
    seconds = [timing.seconds for timing in timings]
    return max(seconds) / median(seconds)


def row(rounds: int) -> Row:
    """The slowest shape's time divided by the median."""
    timings = time_documents(rounds=rounds)
    worst = max(timings, key=lambda timing: timing.seconds)
    told = f"worst: {worst.shape}, {worst.seconds * 1e3:.0f} ms"
    measure = f"documents: of {TOKENS:,} tokens, worst over median"
    return Row(measure, worst_over_median(timings), "x", "<= 10", told)


def main() -> None:
    timings = sorted(time_documents(), key=lambda timing: timing.seconds)
    for timing in timings:
        print(f"{timing.seconds * 1e3:8.1f} ms  {timing.shape:30} {timing.outcome[:90]}")
    print(f"worst over median: {worst_over_median(timings):.1f}")


if __name__ == "__main__":
    main()

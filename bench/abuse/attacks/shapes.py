"""Documents that cost a server much: shapes that fill a number of tokens, and operations that
attacks send and that tests run."""

from __future__ import annotations

from collections.abc import Callable

from graphql import Lexer, Source, TokenKind


def times(count: int, field: str) -> str:
    """A field under as many aliases."""
    return " ".join(f"a{number}: {field}" for number in range(count))


PAGE_OF_PINS = "pins(first: 50) { edges { node { board { owner { id } } } } }"


def pages_of_pins(count: int) -> str:
    """Pages of pins with the owners of their boards; 30 pages are just below the limit on cost."""
    return f"{{ {times(count, PAGE_OF_PINS)} }}"


def counts(count: int) -> str:
    """Counts of 100 users, each under as many aliases."""
    return f"{{ users(first: 100) {{ edges {{ node {{ {times(count, 'pinCount')} }} }} }} }}"


def fan_out(board: str, mark: str = "") -> str:
    """Fragments in 12 levels, three aliases each: under 900 bytes for half a million paths. `mark`
    is a part of each alias."""
    parts = [f'{{board(id:"{board}"){{...F0}}}}']
    for level in range(12):
        on, below = ("Board", "cover") if level % 2 == 0 else ("Pin", "board")
        fields = " ".join(f"x{n}{mark}:{below}{{...F{level + 1}}}" for n in range(3))
        parts.append(f"fragment F{level} on {on}{{{fields}}}")
    return "".join([*parts, "fragment F12 on Board{id}"])


def merging(further: str = "") -> str:
    """300 pages of one field, which are merged, and further fields."""
    return "{" + "viewer{boards{edges{node{id}}}}" * 300 + f"{further}}}"


COMMENTS_OF_COMMENTS = (
    "{ pins(first: 10) { edges { node { comments(first: 5) { edges { node { pin { "
    "comments(first: 5) { edges { node { author { likedPins(first: 5) { edges { node { "
    "board { pinCount } } } } } } } } } } } } } } } }"
)


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

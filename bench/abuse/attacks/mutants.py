"""Mutated requests: the project's own operations and generated operations, with changed GraphQL
tokens, values of variables, and bytes of the body.

A document is changed by its tokens, so that most mutants get through the parser's first steps or to
the validation: tokens are dropped, doubled, swapped, or replaced by names of the schema and by
literals; balanced groups of braces are moved between documents. Few requests have answers with
thousands of objects.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphql import GraphQLError, GraphQLSchema, Lexer, Source, TokenKind

from bench.abuse.attacks.random_operations import Drawn

SAMPLES = Path(__file__).parents[3] / "gateway" / "samples"
LITERALS = (
    *("0", "1", "-1", "2147483647", "2147483648", "-9223372036854775809", "1e308", "1e999", "0.1"),
    *('""', '"a"', '"\\u0000"', '"\\ud83d\\ude00"', '"""b"""', "null", "true", "false", "[]", "{}"),
    *("[[[1]]]", "{a: 1}", "$v0", "$undefined", "ENUM", "[null]", '"%s"' % ("x" * 300)),
)
PUNCTUATION = (
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ":",
    "=",
    "!",
    "|",
    "&",
    "@",
    "$",
    "...",
    '"',
    "#",
    "\\",
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 1e308, 0.5, "", "a", "\u0000"),
    *("\u202e", "\ud83d\ude00", "x" * 5_000, [], [[]], {}, {"a": {"b": [1]}}, ["1"] * 200, [None]),
)
LARGE = (
    "{ users(first: 60) { edges { node { followers(first: 40) { edges { node { id } } } } } } }",
    "{ users(first: 100) { edges { node { id username fullName about createdAt } cursor } } "
    "pins(first: 100) { edges { node { id title owner { id } board { id name } } } } }",
    "{ boards(first: 50) { edges { node { pins(first: 40) { edges { node { id } } } } } } }",
    "{ __schema { types { name fields { name args { name type { name } } type { name } } } } }",
)


@dataclass(frozen=True)
class Mutant:
    """A request: its method, its target, and its headers and body as they are sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Mutants:
    """An endless series of requests, always the same for the same seed."""

    def __init__(
        self,
        schema: GraphQLSchema,
        ids: dict[str, list[str]],
        tokens: Sequence[str],
        seed: int = 1,
    ) -> None:
        """`tokens` are bearer tokens; some requests have one."""
        self._rng, self._schema, self._ids, self._tokens = random.Random(seed), schema, ids, tokens
        self._names = sorted(
            set(schema.type_map)
            | {name for type_ in schema.type_map.values() for name in getattr(type_, "fields", {})}
        )
        self._samples = [
            (path.read_text(), json.loads(path.with_suffix(".json").read_text()))
            for path in sorted(SAMPLES.glob("*.graphql"))
        ]

    def __iter__(self) -> Iterator[Mutant]:
        while True:
            yield self.one()

    def one(self) -> Mutant:
        rng = self._rng
        query, variables = self._operation()
        for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
            query = self._changed(query)
        if rng.random() < 0.3:
            variables = self._other_values(variables)
        headers = {"content-type": "application/json"}
        if self._tokens and rng.random() < 0.4:
            headers["authorization"] = f"Bearer {rng.choice(self._tokens)}"
        if rng.random() < 0.3:
            headers["accept"] = "application/graphql-response+json"
        if rng.random() < 0.05:
            headers["x-pinway-cost"] = "1"
        if rng.random() < 0.05:
            return self._by_get(query, variables, headers)
        body = json.dumps(self._message(query, variables)).encode()
        if rng.random() < 0.2:
            body = self._bytes(body)
        return Mutant("POST", "/graphql", headers, body)

    def _operation(self) -> tuple[str, dict[str, Any]]:
        rng = self._rng
        kind = rng.random()
        if kind < 0.03:
            return rng.choice(LARGE), {}
        if kind < 0.35:
            text, variables = rng.choice(self._samples)
            filled = json.dumps(variables)
            for name, type_ in (("boardId", "Board"), ("pinId", "Pin"), ("userId", "User")):
                filled = filled.replace("{{" + name + "}}", rng.choice(self._ids[type_]))
            return text, json.loads(filled.replace("{{otherPinId}}", rng.choice(self._ids["Pin"])))
        drawn = Drawn(self._schema, rng, self._ids)
        return drawn.query(), drawn.variables

    def _changed(self, query: str) -> str:
        """The document with one change to its tokens."""
        rng, tokens = self._rng, _tokens(query)
        if not tokens:
            return query + rng.choice(PUNCTUATION)
        at = rng.randrange(len(tokens))
        kind = rng.randrange(8)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(self._names)
        elif kind == 4:
            tokens[at] = rng.choice(LITERALS)
        elif kind == 5:
            tokens.insert(at, rng.choice(PUNCTUATION))
        elif kind == 6:
            start, end = _group(tokens, at)
            group = tokens[start:end] * rng.choice((1, 2, 20))
            place = rng.randrange(len(tokens))
            tokens[place:place] = group[:3_000]
        else:
            start, end = _group(_tokens(other_ := self._operation()[0]), 0)
            tokens[at:at] = _tokens(other_)[start:end]
        return " ".join(tokens)

    def _other_values(self, variables: dict[str, Any]) -> dict[str, Any]:
        rng = self._rng
        changed = {**variables, f"v{rng.randrange(3)}": rng.choice(VALUES)}
        name = rng.choice(list(changed))
        if isinstance(changed[name], dict) and changed[name]:
            changed[name] = {**changed[name], rng.choice(list(changed[name])): rng.choice(VALUES)}
        else:
            changed[name] = rng.choice(VALUES)
        return changed

    def _message(self, query: str, variables: Any) -> Any:
        rng = self._rng
        message: dict[str, Any] = {"query": query, "variables": variables}
        if rng.random() < 0.05:
            message[rng.choice(("query", "variables", "operationName", "extensions"))] = rng.choice(
                VALUES
            )
        return message if rng.random() < 0.98 else rng.choice(([message], [], 1, "x", None))

    def _by_get(self, query: str, variables: Any, headers: dict[str, str]) -> Mutant:
        headers = {**headers, "apollo-require-preflight": "1"}
        target = f"/graphql?query={quote(query[:4_000])}&variables={quote(json.dumps(variables))}"
        return Mutant("GET", target, headers, b"")

    def _bytes(self, body: bytes) -> bytes:
        """The body with some bytes changed, removed, doubled or inserted."""
        rng, changed = self._rng, bytearray(body)
        for _ in range(rng.choice((1, 2, 5, 20))):
            at = rng.randrange(len(changed) + 1)
            kind = rng.randrange(5)
            if kind == 0 and at < len(changed):
                changed[at] = rng.randrange(256)
            elif kind == 1:
                del changed[at : at + rng.randrange(1, 20)]
            elif kind == 2:
                changed[at:at] = changed[at : at + rng.randrange(1, 50)]
            elif kind == 3:
                changed[at:at] = rng.randbytes(rng.randrange(1, 5))
            elif rng.random() < 0.2:
                del changed[at:]
        return bytes(changed)


def _tokens(text: str) -> list[str]:
    """The tokens of a text; the rest of an invalid text is one piece."""
    source = Source(text)
    lexer, found, end = Lexer(source), [], 0
    try:
        while (token := lexer.advance()).kind is not TokenKind.EOF:
            found.append(text[token.start : token.end])
            end = token.end
    except GraphQLError:
        found.append(text[end:])
    return found


def _group(tokens: Sequence[str], at: int) -> tuple[int, int]:
    """The start and the end of the next balanced group of braces."""
    start = next((n for n in range(at, len(tokens)) if tokens[n] in ("{", "(", "[")), at)
    depth = 0
    for end in range(start, len(tokens)):
        depth += (tokens[end] in ("{", "(", "[")) - (tokens[end] in ("}", ")", "]"))
        if depth <= 0:
            return start, end + 1
    return start, len(tokens)

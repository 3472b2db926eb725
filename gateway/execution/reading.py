"""From a document's text to its syntax tree, checked: parsed, within bounds, and valid.

Nothing here depends on a loop or on the cache, so that it may run in any thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    Node,
    OverlappingFieldsCanBeMergedRule,
    Source,
    Token,
    TokenKind,
    specified_rules,
    validate,
)
from graphql.language.parser import Parser, nested_too_deeply_error

from gateway.execution.hiding import Hiding, Sent
from gateway.execution.limits import Limits, measured
from gateway.execution.merging import FieldsMerge

RULES = tuple(
    FieldsMerge if rule is OverlappingFieldsCanBeMergedRule else rule for rule in specified_rules
)
ERRORS = 5
"""Errors that a refused document is told of, at most. Some print a whole argument, which
takes long."""
MESSAGE = 500
"""Characters of an error's message, at most: some repeat what was sent."""
_NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Read:
    """A document as it was read, or the errors why it is refused."""

    ast: DocumentNode | None
    errors: list[GraphQLError]
    selections: dict[str | None, int] = field(default_factory=dict)
    """By operation: its selections, with its fragments where they are spread."""
    fields: frozenset[str] = frozenset()
    """The names of all fields."""
    nodes: int = 0
    """How many nodes the tree has."""


class Reader:
    """Reads documents for one schema."""

    def __init__(self, schema: GraphQLSchema, limits: Limits, *, suggestions: bool) -> None:
        self._schema, self._limits = schema, limits
        self.hiding = None if suggestions else Hiding(schema)
        """Hides the schema's names in errors, where they are to be hidden."""

    def read(self, text: str) -> Read:
        lexer = Lexer(Source(text))
        try:
            return self._read(text, lexer)
        finally:
            _unlink(lexer.token)

    def _read(self, text: str, lexer: Lexer) -> Read:
        limits = self._limits
        parser = Parser(
            lexer.source,
            lexer=lexer,
            max_lexical_tokens=limits.tokens,
            max_comments=limits.tokens,
            max_source_length=limits.length,
        )
        try:
            ast = parser.parse_document()
        except GraphQLSyntaxError as error:
            return self._refused(text, [error], "GRAPHQL_PARSE_FAILED")
        except RecursionError:
            return self._refused(text, [nested_too_deeply_error(parser)], "GRAPHQL_PARSE_FAILED")
        counts = measured(ast)
        errors = counts.errors(limits) or validate(
            self._schema,
            ast,
            RULES,
            max_errors=ERRORS,
            hide_suggestions=self.hiding is not None,
        )
        fields, nodes = _without_tokens(ast)  # validation leaves refused trees to the collector too
        if errors:
            return self._refused(text, errors, "GRAPHQL_VALIDATION_FAILED")
        return Read(ast, [], counts.selections, fields, nodes)

    def _refused(self, text: str, errors: list[GraphQLError], code: str) -> Read:
        sent = Sent(text)
        return Read(None, [self._light(sent, error, code) for error in errors])

    def _light(self, sent: Sent, error: GraphQLError, code: str) -> GraphQLError:
        """The error as a client sees it, without the tree that it holds."""
        message = error.message
        if self.hiding is not None:
            message = self.hiding.hidden(message, sent)
        if len(message) > MESSAGE:
            message = message[:MESSAGE] + "..."
        light = GraphQLError(message, extensions={**(error.extensions or {}), "code": code})
        light.locations = error.locations
        return light


def _unlink(last: Token) -> None:
    """Undo the links between a document's tokens, from the last one. Linked tokens keep each other
    alive until the collector finds them, and it finds none that it has frozen (`collector`)."""
    token: Token | None = last
    while token is not None:
        token.prev, token.next, token = None, None, token.prev


def _without_tokens(ast: DocumentNode) -> tuple[frozenset[str], int]:
    """Let go of the tree's tokens, which are as large as the tree. Return the names of its fields,
    and how many nodes it has."""
    names: set[str] = set()
    count = 0
    left: list[Node] = [ast]
    while left:
        node = left.pop()
        count += 1
        if node.loc is not None:
            node.loc.start_token = node.loc.end_token = _NO_TOKEN
        if isinstance(node, FieldNode):
            names.add(node.name.value)
        for key in node.keys:
            below = getattr(node, key, None)
            if isinstance(below, Node):
                left.append(below)
            elif isinstance(below, tuple | list):
                left.extend(one for one in below if isinstance(one, Node))
    return frozenset(names), count

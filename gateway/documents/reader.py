"""Reads a document: parses its text, checks the limits, validates it.

Nothing here uses the event loop or the cache, so documents may be read in any thread. A reading
calls `pause` at each token, and at each node that it validates
(`gateway/execution/side_thread.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    Node,
    OverlappingFieldsCanBeMergedRule,
    ParallelVisitor,
    Source,
    Token,
    TokenKind,
    TypeInfo,
    TypeInfoVisitor,
    ValidationContext,
    Visitor,
    specified_rules,
    visit,
)
from graphql.language.parser import Parser, nested_too_deeply_error
from graphql.validation.validate import (
    FragmentNestingVisitor,
    ValidationAbortedError,
    query_document_keys_to_validate,
)
from graphql.validation.validation_context import (
    NodeWithSelectionSet,
    VariableUsage,
    VariableUsageVisitor,
)

from gateway.documents.field_merging import FieldsMerge
from gateway.documents.hidden_names import Hiding, Sent
from gateway.documents.limits import Limits, measured
from gateway.execution.client_errors import cut
from gateway.execution.model.lines import LOCATIONS, Text

NewRule = Callable[[ValidationContext], ASTValidationRule]
"""Makes a validation rule for one document."""
RULES = tuple(
    FieldsMerge if rule is OverlappingFieldsCanBeMergedRule else rule for rule in specified_rules
)
ERRORS = 5
"""The maximum number of errors of a refused document. Some errors print a whole argument, which
takes long."""
_NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Read:
    """The syntax tree of a valid document, or the errors of a refused one."""

    ast: DocumentNode | None
    errors: list[GraphQLError]
    selections: dict[str | None, int] = field(default_factory=dict)
    """The number of selections of each operation, by name. A fragment's selections count at each
    spread."""
    fields: frozenset[str] = frozenset()
    """The names of all selected fields."""
    nodes: int = 0
    """The number of nodes of the tree."""
    lines: int = 0
    """The size of the table of lines, in bytes."""


class _Tokens(Lexer):
    """A lexer that pauses at each token."""

    def __init__(self, source: Source, pause: Callable[[], None]) -> None:
        super().__init__(source)
        self._pause = pause

    def advance(self) -> Token:
        self._pause()
        return super().advance()


class _Pausing(ASTValidationRule):
    """A validation rule that all documents obey, and that pauses at each node."""

    def __init__(self, context: ValidationContext, pause: Callable[[], None]) -> None:
        super().__init__(context)
        self._pause = pause

    def enter(self, *_: Any) -> None:
        self._pause()


class _Context(ValidationContext):
    """A context of validation that leaves no reference cycles."""

    def get_variable_usages(self, node: NodeWithSelectionSet) -> list[VariableUsage]:
        usages = self._variable_usages.get(node)
        if usages is None:
            fragment = node if isinstance(node, FragmentDefinitionNode) else None
            visitor = VariableUsageVisitor(self._type_info, fragment)
            with_types = TypeInfoVisitor(self._type_info, visitor)
            visit(node, with_types)
            _break_cycles(visitor, with_types)
            usages = self._variable_usages[node] = visitor.usages
        return usages


class Reader:
    """Reads documents for one schema."""

    def __init__(self, schema: GraphQLSchema, limits: Limits, *, suggestions: bool) -> None:
        self._schema, self._limits = schema, limits
        self.hiding = None if suggestions else Hiding(schema)
        """Removes the schema's names from errors; None if suggestions are allowed."""

    def read(self, text: str, pause: Callable[[], None] | None = None) -> Read:
        """Read a text, in a thread with `pause`."""
        source = Text(text)
        lexer = _Tokens(source, pause) if pause else Lexer(source)
        rules: Sequence[NewRule] = (*RULES, partial(_Pausing, pause=pause)) if pause else RULES
        try:
            return self._read(source, lexer, rules)
        finally:
            _unlink(lexer.token)

    def _read(self, source: Text, lexer: Lexer, rules: Sequence[NewRule]) -> Read:
        text, limits = source.body, self._limits
        try:
            parser = Parser(
                source,
                lexer=lexer,
                max_lexical_tokens=limits.tokens,
                max_comments=limits.tokens,
                max_source_length=limits.length,
            )
            ast = _parsed(parser)
        except GraphQLSyntaxError as error:
            return self._refused(text, [error], "GRAPHQL_PARSE_FAILED")
        lines = source.index()
        counts = measured(ast)
        errors = counts.errors(limits) or self._validated(ast, rules)
        if errors:
            return self._refused(text, errors, "GRAPHQL_VALIDATION_FAILED")
        fields, nodes = _without_tokens(ast)
        return Read(ast, [], counts.selections, fields, nodes, lines)

    def _validated(self, ast: DocumentNode, rules: Sequence[NewRule]) -> list[GraphQLError]:
        """Returns the errors of graphql-core's `validate`, without the reference cycles that
        `validate` leaves. Frozen cycles would stay for long (`gateway/execution/collector.py`)."""
        errors: list[GraphQLError] = []

        def report(error: GraphQLError) -> None:
            if len(errors) >= ERRORS:
                raise ValidationAbortedError(
                    "Too many validation errors, error limit reached. Validation aborted."
                )
            errors.append(error)

        type_info = TypeInfo(self._schema)
        context = _Context(
            self._schema, ast, type_info, report, hide_suggestions=self.hiding is not None
        )
        visitors: list[Visitor] = [rule(context) for rule in rules]
        fragments = [one for one in ast.definitions if isinstance(one, FragmentDefinitionNode)]
        if fragments:
            visitors.insert(0, FragmentNestingVisitor({one.name.value: one for one in fragments}))
        together = ParallelVisitor(visitors)
        with_types = TypeInfoVisitor(type_info, together)
        try:
            visit(ast, with_types, query_document_keys_to_validate)
        except ValidationAbortedError as error:
            error.__context__ = None  # it and the traceback would keep the frames alive
            errors.append(error.with_traceback(None))
        except RecursionError:
            errors.append(ValidationAbortedError("Validation aborted."))
        finally:
            _break_cycles(*visitors, together, with_types)
        return errors

    def _refused(self, text: str, errors: list[GraphQLError], code: str) -> Read:
        sent = Sent(text)
        return Read(None, [self._for_client(sent, error, code) for error in errors])

    def _for_client(self, sent: Sent, error: GraphQLError, code: str) -> GraphQLError:
        """The error as a client sees it, without a reference to the syntax tree."""
        message = error.message
        if self.hiding is not None:
            message = self.hiding.hidden(message, sent)
        extensions = {**(error.extensions or {}), "code": code}
        shown = GraphQLError(cut(message), extensions=extensions)
        shown.locations = error.locations and error.locations[:LOCATIONS]
        return shown


def _parsed(parser: Parser) -> DocumentNode:
    """The document. Raises GraphQLSyntaxError, where it is nested too deeply too."""
    try:
        return parser.parse_document()
    except RecursionError:
        pass
    raise nested_too_deeply_error(parser)


def _break_cycles(*visitors: Visitor) -> None:
    """Drop the methods that visitors keep of themselves."""
    for visitor in visitors:
        visitor.enter_leave_map.clear()


def _unlink(last: Token) -> None:
    """Remove the links between a document's tokens, from the last token back. Linked tokens keep
    each other alive until the garbage collector finds them, and it never finds frozen tokens
    (`gateway/execution/collector.py`)."""
    token: Token | None = last
    while token is not None:
        token.prev, token.next, token = None, None, token.prev


def _without_tokens(ast: DocumentNode) -> tuple[frozenset[str], int]:
    """Drop the tree's tokens, which are as large as the tree. Returns the names of the tree's
    fields, and the number of its nodes."""
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

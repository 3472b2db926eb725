"""Parsed and validated documents, kept by their text."""

from collections import OrderedDict
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Visitor,
    parse,
    validate,
    visit,
)

from gateway.execution.limits import depth_errors


@dataclass(frozen=True, slots=True)
class Document:
    """A document that may be executed, or the errors (with their code) why it may not; and the
    names of all fields in it."""

    ast: DocumentNode | None
    errors: list[GraphQLError]
    fields: frozenset[str] = frozenset()


class Documents:
    """A bounded cache of documents, least recently used out first."""

    def __init__(
        self, schema: GraphQLSchema, *, size: int, max_tokens: int, max_depth: int
    ) -> None:
        self._schema, self._size = schema, size
        self._max_tokens, self._max_depth = max_tokens, max_depth
        self._documents: OrderedDict[str, Document] = OrderedDict()

    def get(self, text: str) -> Document:
        document = self._documents.get(text)
        if document is None:
            document = self._documents[text] = self._read(text)
            if len(self._documents) > self._size:
                self._documents.popitem(last=False)
        else:
            self._documents.move_to_end(text)
        return document

    def _read(self, text: str) -> Document:
        try:
            ast = parse(text, max_tokens=self._max_tokens)
        except GraphQLSyntaxError as error:
            return Document(None, [_coded(error, "GRAPHQL_PARSE_FAILED")])
        errors = validate(self._schema, ast, max_errors=20) or depth_errors(ast, self._max_depth)
        if errors:
            return Document(ast, [_coded(error, "GRAPHQL_VALIDATION_FAILED") for error in errors])
        names = _FieldNames()
        visit(ast, names)
        return Document(ast, [], frozenset(names.found))


class _FieldNames(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def enter_field(self, node: FieldNode, *_: object) -> None:
        self.found.add(node.name.value)


def _coded(error: GraphQLError, code: str) -> GraphQLError:
    error.extensions = {**(error.extensions or {}), "code": code}
    return error

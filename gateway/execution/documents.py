"""Operations ready to run, kept by their text: parsed, validated, limited and compiled once."""

from collections import OrderedDict
from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    TokenKind,
    Visitor,
    parse,
    validate,
    visit,
)

from gateway.execution.engine import Engine, Plan
from gateway.execution.limits import depth_errors

BYTES_A_TOKEN = 400
"""Of a syntax tree, measured: its nodes, and the tokens they keep."""
BYTES_A_FIELD = 4_000
"""Of a compiled plan, measured: what is known of a field, and its part of the generated code."""
BYTES_A_DOCUMENT = 4_000


@dataclass(slots=True)
class Stats:
    """What the cache of documents did. `fallbacks` are requests that graphql-core ran."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    documents: int = 0
    bytes: int = 0
    fallbacks: int = 0


@dataclass(slots=True)
class Document:
    """A document that may be executed, or the errors (with their code) why it may not; the names
    of all fields in it; and about how many bytes it takes."""

    engine: Engine
    ast: DocumentNode | None
    errors: list[GraphQLError]
    fields: frozenset[str] = frozenset()
    bytes: int = BYTES_A_DOCUMENT
    _operations: dict[str | None, "Operation | GraphQLError"] = field(default_factory=dict)

    def operation(self, name: str | None) -> "Operation | GraphQLError":
        """The operation of this name, or the only one; an error where there is none such."""
        found = self._operations.get(name)
        if found is None:
            found = self._chosen(name)
            if isinstance(found, Operation):  # an unknown name is the client's, and unbounded
                self._operations[name] = found
        return found

    def _chosen(self, name: str | None) -> "Operation | GraphQLError":
        assert self.ast is not None
        operations = {
            d.name.value if d.name else None: d
            for d in self.ast.definitions
            if isinstance(d, OperationDefinitionNode)
        }
        if name is None and len(operations) > 1:
            return _bad(f"Name the operation to run: one of {', '.join(map(str, operations))}.")
        if name is not None and name not in operations:
            return _bad(f"There is no operation {name!r} in this document.")
        chosen = operations[name] if name is not None else next(iter(operations.values()), None)
        if chosen is None:
            return _bad("The document has no operation.")
        return Operation(chosen.operation, self.engine.compile(self.ast, name))


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a document, and its plan."""

    type: OperationType
    plan: Plan


class Documents:
    """A cache of documents bounded by number and by bytes, least recently used out first."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        size: int,
        max_bytes: int,
        max_tokens: int,
        max_depth: int,
    ) -> None:
        self._schema, self._size, self._max_bytes = schema, size, max_bytes
        self._max_tokens, self._max_depth = max_tokens, max_depth
        self._engine = Engine(schema)
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._stats = Stats()

    @property
    def stats(self) -> Stats:
        self._stats.documents = len(self._documents)
        self._stats.fallbacks = self._engine.fallbacks
        return self._stats

    def get(self, text: str) -> Document:
        stats = self._stats
        document = self._documents.get(text)
        if document is not None:
            stats.hits += 1
            self._documents.move_to_end(text)
            return document
        stats.misses += 1
        document = self._read(text)
        document.bytes += 2 * len(text)
        if document.bytes <= self._max_bytes:
            self._documents[text] = document
            stats.bytes += document.bytes
            while len(self._documents) > self._size or stats.bytes > self._max_bytes:
                _, dropped = self._documents.popitem(last=False)
                stats.bytes -= dropped.bytes
                stats.evictions += 1
        return document

    def _read(self, text: str) -> Document:
        try:
            ast = parse(text, max_tokens=self._max_tokens)
        except GraphQLSyntaxError as error:
            return Document(self._engine, None, [_coded(error, "GRAPHQL_PARSE_FAILED")])
        errors = validate(self._schema, ast, max_errors=20) or depth_errors(ast, self._max_depth)
        if errors:
            codes = [_coded(error, "GRAPHQL_VALIDATION_FAILED") for error in errors]
            return Document(self._engine, ast, codes, bytes=_tree_bytes(ast))
        names = _FieldNames()
        visit(ast, names)
        return Document(
            self._engine,
            ast,
            [],
            frozenset(names.found),
            _tree_bytes(ast) + names.count * BYTES_A_FIELD,
        )


def _tree_bytes(ast: DocumentNode) -> int:
    tokens, token = 0, ast.loc.start_token if ast.loc else None
    while token is not None and token.kind is not TokenKind.EOF:
        tokens += 1
        token = token.next
    return BYTES_A_DOCUMENT + tokens * BYTES_A_TOKEN


class _FieldNames(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.count = 0

    def enter_field(self, node: FieldNode, *_: object) -> None:
        self.found.add(node.name.value)
        self.count += 1


def _bad(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})


def _coded(error: GraphQLError, code: str) -> GraphQLError:
    error.extensions = {**(error.extensions or {}), "code": code}
    return error

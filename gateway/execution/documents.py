"""Operations ready to run, kept by their text: parsed, validated, limited and compiled once.

A text that isn't known is read beside the event loop (`aside`), once for all requests that ask for
it meanwhile. Refused documents aren't kept; of the last ones the errors are remembered.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
)

from gateway.cost.estimate import Estimate
from gateway.execution.aside import Overloaded
from gateway.execution.compile.engine import Engine, Plan
from gateway.execution.hiding import Hiding
from gateway.execution.limits import Limits
from gateway.execution.reading import Reader

BYTES_A_NODE = 400
"""The bytes of a node of a syntax tree without its tokens, measured."""
BYTES_A_DOCUMENT = 4_000
SMALL = 400
"""Characters of a document that is read at once: that takes as long as any small request."""
NAME = 60
"""Characters of an operation's unknown name that are repeated."""
REFUSED = 64
"""Refused documents whose errors are remembered."""


@dataclass(slots=True)
class Stats:
    """Counts of the cache of documents. `fallbacks` are requests that graphql-core ran; `refused`
    are documents that were refused, those remembered not counted."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    documents: int = 0
    bytes: int = 0
    fallbacks: int = 0
    refused: int = 0


@dataclass(slots=True)
class Document:
    """A document that may be executed, or the errors (with their code) why it may not; the names
    of all fields in it; and about how many bytes it takes, its plans included."""

    engine: Engine
    ast: DocumentNode | None
    errors: list[GraphQLError]
    fields: frozenset[str] = frozenset()
    selections: dict[str | None, int] = field(default_factory=dict)
    """By operation: its selections, with its fragments where they are spread."""
    bytes: int = BYTES_A_DOCUMENT
    kept: "Documents | None" = None
    """The cache that it is in."""
    _operations: dict[str | None, "PreparedOperation"] = field(default_factory=dict)

    def charge(self, taken: int) -> None:
        """More of it was compiled, or let go of."""
        self.bytes += taken
        if self.kept is not None:
            self.kept.grown(taken)

    def forget(self) -> None:
        """Drop its plans, which are in cycles: the document is out of the cache."""
        self.kept = None
        for operation in self._operations.values():
            operation.plan.forget()
        self._operations.clear()

    def operation(self, name: str | None) -> "PreparedOperation | GraphQLError":
        """The operation of this name, or the only one; an error where there is none such."""
        found = self._operations.get(name)
        if found is not None:
            return found
        chosen = self._chosen(name)
        if isinstance(chosen, PreparedOperation):  # an unknown name is the client's, and unbounded
            self._operations[name] = chosen
            if len(self.selections) == 1:  # the only one is run with and without its name
                self._operations.update(dict.fromkeys((None, *self.selections), chosen))
        return chosen

    def _chosen(self, name: str | None) -> "PreparedOperation | GraphQLError":
        assert self.ast is not None
        operations = {
            d.name.value if d.name else None: d
            for d in self.ast.definitions
            if isinstance(d, OperationDefinitionNode)
        }
        if name is None and len(operations) > 1:
            return _bad(f"Name the operation to run: one of {', '.join(map(str, operations))}.")
        if name is not None and name not in operations:
            shown = name if len(name) <= NAME else f"{name[:NAME]}..."
            return _bad(f"There is no operation {shown!r} in this document.")
        chosen = operations[name] if name is not None else next(iter(operations.values()), None)
        if chosen is None:
            return _bad("The document has no operation.")
        estimate = self.engine.estimate(self.ast, chosen)
        size = self.selections.get(chosen.name.value if chosen.name else None, 0)
        plan = self.engine.compile(self.ast, name, selections=size, charge=self.charge)
        own_name = chosen.name.value if chosen.name else ""
        return PreparedOperation(chosen.operation, own_name, plan, estimate)


@dataclass(frozen=True, slots=True)
class PreparedOperation:
    """An operation of a document (its name is empty where it has none), its plan, and what it
    costs."""

    type: OperationType
    name: str
    plan: Plan
    estimate: Estimate


class Documents:
    """A cache of documents bounded by number and by bytes, least recently used out first."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        size: int,
        max_bytes: int,
        limits: Limits,
        suggestions: bool = True,
    ) -> None:
        self._size, self._max_bytes = size, max_bytes
        self._engine = Engine(schema)
        self._reader = Reader(schema, limits, suggestions=suggestions)
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._refused: OrderedDict[bytes, Document] = OrderedDict()
        self._reading: dict[str, _Reading] = {}
        self._stats = Stats()

    @property
    def hiding(self) -> Hiding | None:
        """Hides the schema's names in errors, where they are to be hidden."""
        return self._reader.hiding

    @property
    def stats(self) -> Stats:
        self._stats.documents = len(self._documents)
        self._stats.fallbacks = self._engine.fallbacks
        return self._stats

    def found(self, text: str) -> Document | None:
        """The document, if it is kept."""
        document = self._documents.get(text)
        if document is None:
            self._stats.misses += 1
            return None
        self._stats.hits += 1
        self._documents.move_to_end(text)
        return document

    def get(self, text: str) -> Document:
        """The document, read at once if it isn't kept."""
        return self.found(text) or self._now(text)

    async def read(self, text: str) -> Document:
        """A document that isn't kept, read beside the loop unless it is small. Requests for one
        text share one reading."""
        remembered = self._refused.get(_digest(text))
        if remembered is not None:
            return remembered
        if len(text) <= SMALL:
            return self._now(text)
        reading = self._reading.get(text)
        if reading is None:
            reading = self._reading[text] = _Reading(asyncio.ensure_future(self._beside(text)))
        reading.waiting += 1
        try:
            return await asyncio.shield(reading.task)
        finally:
            reading.waiting -= 1
            if not reading.waiting and not reading.task.done():
                self._reading.pop(text, None)
                reading.task.cancel()

    async def _beside(self, text: str) -> Document:
        own = self._reading.get(text)
        try:
            document = await self._engine.aside.do(len(text), lambda: self._new(text))
        except Overloaded as overloaded:
            return Document(self._engine, None, [overloaded.error()])
        finally:
            if self._reading.get(text) is own:
                self._reading.pop(text, None)
        return self._kept(text, document)

    def _now(self, text: str) -> Document:
        return self._kept(text, self._new(text))

    def _new(self, text: str) -> Document:
        """The document, its operation made if it has only one. In any thread."""
        read = self._reader.read(text)
        document = Document(self._engine, read.ast, read.errors, read.fields, read.selections)
        if read.ast is not None:
            document.bytes += read.nodes * BYTES_A_NODE + 2 * len(text)
            if len(read.selections) == 1:
                document.operation(None)
        return document

    def _kept(self, text: str, document: Document) -> Document:
        if document.ast is None:
            self._stats.refused += 1
            self._refused[_digest(text)] = document
            if len(self._refused) > REFUSED:
                self._refused.popitem(last=False)
            return document
        if document.bytes <= self._max_bytes:
            self._documents[text], document.kept = document, self
            self.grown(document.bytes)
        return document

    def grown(self, taken: int) -> None:
        """A document that is kept takes so much more."""
        self._stats.bytes += taken
        self._trim()

    def _trim(self) -> None:
        stats = self._stats
        while len(self._documents) > self._size or stats.bytes > self._max_bytes:
            _, dropped = self._documents.popitem(last=False)
            stats.bytes -= dropped.bytes
            dropped.forget()
            stats.evictions += 1


@dataclass(slots=True)
class _Reading:
    """A document that is being read, and how many requests wait for it."""

    task: "asyncio.Future[Document]"
    waiting: int = 0


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _bad(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})

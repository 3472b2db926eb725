"""The cache of documents: each text is parsed, validated, checked against the limits and compiled
once.

A new text is read in a thread beside the event loop (`aside`). Concurrent requests with the same
text share that reading. A refused document is not cached, but the errors of the last refused
documents are.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
)

from gateway.cost.estimate import Estimate, Rules, estimate_of
from gateway.documents.caching import Caching
from gateway.documents.hidden_names import Hiding
from gateway.documents.limits import Limits
from gateway.documents.reader import Reader
from gateway.documents.two_queues import TwoQueues, digest_of
from gateway.execution.collector import no_passes
from gateway.execution.compile.engine import Engine, Plan
from gateway.execution.side_thread import Overloaded

BYTES_A_NODE = 400
"""The size of a syntax tree's node without its tokens, in bytes, as measured."""
BYTES_A_DOCUMENT = 4_000
SMALL = 400
"""The maximum length, in characters, of a document that is read on the event loop. Reading it takes
about as long as a small request."""
NAME = 60
"""The maximum number of characters of an unknown operation name that an error message repeats."""
REFUSED = 64
"""The maximum number of refused documents whose errors are cached."""


@dataclass(slots=True)
class Stats:
    """Counts of the document cache. `fallbacks` counts the requests that graphql-core ran.
    `refused` counts the documents that were read and refused, but not the requests that were
    answered with cached errors."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    documents: int = 0
    bytes: int = 0
    fallbacks: int = 0
    refused: int = 0


@dataclass(slots=True)
class Document:
    """A document that was read. `ast` is None if the document was refused, and `errors` says why,
    each error with its code. `fields` are the names of all fields in it. `bytes` is an estimate of
    its size with its compiled plans. `rules` are the costs of the schema's fields."""

    engine: Engine
    rules: Rules
    ast: DocumentNode | None
    errors: list[GraphQLError]
    fields: frozenset[str] = frozenset()
    selections: dict[str | None, int] = field(default_factory=dict)
    """The number of selections of each operation, by name. A fragment's selections count at each
    spread."""
    bytes: int = BYTES_A_DOCUMENT
    grown: Callable[[int], None] | None = None
    """Called with the number of bytes by which the document grew; None outside the cache."""
    users: int = 0
    """The number of requests that use the document."""
    caching: Caching | None = None
    """The hints for shared caches; None if these may keep nothing."""
    _operations: dict[str | None, "PreparedOperation"] = field(default_factory=dict)

    def charge(self, taken: int) -> None:
        """Add `taken` bytes to the document's size; a negative number if bytes were freed."""
        self.bytes += taken
        if self.grown is not None:
            self.grown(taken)

    def forget(self) -> None:
        """Break the reference cycles of the plans, when no request uses the document any more. The
        document left the cache."""
        if self.users:
            return
        for operation in self._operations.values():
            operation.plan.forget()
        self._operations.clear()

    def begin(self) -> None:
        """A request begins to use the document."""
        self.users += 1

    def end(self) -> None:
        """A request that used the document ended."""
        self.users -= 1
        if self.grown is None:  # evicted meanwhile, or too large for the cache
            self.forget()

    def operation(self, name: str | None) -> "PreparedOperation | GraphQLError":
        """Returns the operation with this name (None: the only operation of the document), or an
        error if the document has no such operation."""
        found = self._operations.get(name)
        if found is not None:
            return found
        chosen = self._chosen(name)
        if isinstance(chosen, PreparedOperation):  # errors of unknown names are not kept
            self._operations[name] = chosen
            if len(self.selections) == 1:  # a single operation may be run without its name
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
        estimate = estimate_of(self.rules, self.ast, chosen)
        size = self.selections.get(chosen.name.value if chosen.name else None, 0)
        plan = self.engine.compile(self.ast, name, selections=size, charge=self.charge)
        own_name = chosen.name.value if chosen.name else ""
        max_age = self.caching.max_age(self.ast, chosen) if self.caching else 0
        return PreparedOperation(chosen.operation, own_name, plan, estimate, max_age)


@dataclass(frozen=True, slots=True)
class PreparedOperation:
    """An operation of a document, ready to run: its type, its name (empty if it has none), its
    plan, the estimate of its cost, and the seconds for which shared caches may keep its answer to a
    stranger."""

    type: OperationType
    name: str
    plan: Plan
    estimate: Estimate
    max_age: int = 0


class Documents:
    """The cache of documents, limited in number and in bytes. Documents that were used once are
    evicted first (`two_queues`)."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        size: int,
        max_bytes: int,
        limits: Limits,
        suggestions: bool = True,
        public: bool = False,
    ) -> None:
        """`public`: whether shared caches may keep answers."""
        self._caching = Caching(schema) if public else None
        self._engine, self._rules = Engine(schema), Rules(schema)
        self._reader = Reader(schema, limits, suggestions=suggestions)
        self._documents: TwoQueues[Document] = TwoQueues(size, max_bytes)
        self._refused: OrderedDict[bytes, Document] = OrderedDict()
        self._reading: dict[str, _Reading] = {}
        self._stats = Stats()

    @property
    def hiding(self) -> Hiding | None:
        """Removes the schema's names from errors; None if the settings allow suggestions."""
        return self._reader.hiding

    @property
    def stats(self) -> Stats:
        stats, documents = self._stats, self._documents
        stats.documents, stats.bytes = len(documents), documents.bytes
        stats.evictions, stats.fallbacks = documents.evictions, self._engine.fallbacks
        return stats

    def found(self, text: str) -> Document | None:
        """Returns the document of this text if it is cached, else None."""
        document = self._documents.get(text)
        if document is None:
            self._stats.misses += 1
            return None
        self._stats.hits += 1
        return document

    def get(self, text: str) -> Document:
        """Returns the document of this text. A new text is read on the event loop."""
        return self.found(text) or self._now(text)

    async def read(self, text: str, worked: Callable[[float], None] | None = None) -> Document:
        """Read a text that was not cached. A long text is read beside the event loop; concurrent
        requests with the same text share that reading. `worked` gets the processor time of the
        first one's reading beside the loop, in seconds."""
        kept = self._documents.get(text)
        if kept is not None:  # another request read it, while this one waited to be charged
            return kept
        remembered = self._refused.get(digest_of(text))
        if remembered is not None:
            return remembered
        if len(text) <= SMALL:
            return self._now(text)
        reading = self._reading.get(text)
        if reading is None:
            reading = self._reading[text] = _Reading(
                asyncio.ensure_future(self._beside(text, worked))
            )
        reading.waiting += 1
        try:
            return await asyncio.shield(reading.task)
        finally:
            reading.waiting -= 1
            if not reading.waiting and not reading.task.done():
                self._reading.pop(text, None)
                reading.task.cancel()

    async def _beside(self, text: str, worked: Callable[[float], None] | None) -> Document:
        own, aside, seconds = self._reading.get(text), self._engine.aside, 0.0

        def work() -> Document:
            nonlocal seconds
            began = thread_time()
            try:
                return self._new(text, aside.pause)
            finally:
                seconds = thread_time() - began

        try:
            document = await aside.do(len(text), work)
        except Overloaded as overloaded:
            return Document(self._engine, self._rules, None, [overloaded.error()])
        finally:
            if worked is not None:
                worked(seconds)
            if self._reading.get(text) is own:
                self._reading.pop(text, None)
        return self._kept(text, document)

    def _now(self, text: str) -> Document:
        with no_passes():  # a pass would visit the tree that is being read
            document = self._new(text)
        return self._kept(text, document)

    def _new(self, text: str, pause: Callable[[], None] | None = None) -> Document:
        """Read a text. If the document has a single operation, its plan is made, too. May be called
        in any thread; `pause` lets other threads run."""
        read = self._reader.read(text, pause)
        document = Document(
            self._engine, self._rules, read.ast, read.errors, read.fields, read.selections
        )
        document.caching = self._caching
        if read.ast is not None:
            document.bytes += read.nodes * BYTES_A_NODE + 2 * len(text) + read.lines
            if len(read.selections) == 1:
                document.operation(None)
        return document

    def _kept(self, text: str, document: Document) -> Document:
        if document.ast is None:
            self._stats.refused += 1
            self._refused[digest_of(text)] = document
            if len(self._refused) > REFUSED:
                self._refused.popitem(last=False)
            return document
        self._documents.put(text, document)
        return document


@dataclass(slots=True)
class _Reading:
    """A document that is being read, and the number of requests that wait for it."""

    task: "asyncio.Future[Document]"
    waiting: int = 0


def _bad(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})

"""The walks of a process: the newest snapshot, the changes since, and one thread that walks.

A walk uses the graph as it was at most a second ago: before it, the log of changes is read on. What
a walk finds is a hint like a pool's content, and is checked against pins and boards before it is
used.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import StoreCorrupt, StoreError
from datasources.ids import Kind, kind_of
from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.content import OBJECTS, public_boards
from feed_engine.related import changes
from feed_engine.related.changes import KEPT, OVERLAP, Entry

if TYPE_CHECKING:  # a process that never walks does not load numpy
    from feed_engine.related.graph import Graph

log = logging.getLogger("pinway.related")
T = TypeVar("T")

EVERY = 1.0  # seconds between two looks at the file, and between two reads of the log
PATIENCE = 0.2  # seconds that an answer waits for a long log; the walk then lacks its end


class State(NamedTuple):
    """The state of the snapshot file, in a word, and what is wrong with it."""

    state: str  # OK, ABSENT, OLD or DAMAGED
    fault: str = ""


OK, ABSENT, OLD, DAMAGED = "ok", "absent", "old", "damaged"
_File = tuple[int, int, int]  # the inode, the time of modification and the size


@dataclass(slots=True)
class _Opened:
    """A snapshot in use. `read_to`: the newest entry of the log that was read; `seen`: the entries
    of the last OVERLAP."""

    graph: "Graph"
    read_to: int
    seen: set[Entry] = field(default_factory=set)


class Walks:
    """The graph of a process. `path`: the snapshot's file, which may come and be replaced at any
    time."""

    def __init__(
        self,
        stores: Stores,
        path: Path,
        *,
        clock: Callable[[], int] = now_ms,
        every: float = EVERY,
        patience: float = PATIENCE,
    ) -> None:
        self.path = path
        self._stores, self._clock, self._every, self._patience = stores, clock, every, patience
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="walks")
        self._opening, self._looked = asyncio.Lock(), -every
        self._file: _File | None = None
        self._opened: _Opened | None = None
        self._fault = ""
        self._reading: asyncio.Task[None] | None = None
        self._read = -every

    @property
    def graph(self) -> "Graph | None":
        """The graph as last used."""
        return self._opened.graph if self._opened else None

    async def run(self, act: "Callable[[Graph], T]", *, patient: bool = False) -> T | None:
        """The result of `act`, which runs in the walks' thread; None without a graph that can be
        used. `patient`: wait for the whole log, however long it is."""
        opened = await self._newest()
        if opened is None or self._is_old(opened.graph.header.built):
            return None
        await self._read_on(opened, None if patient else self._patience)
        return await self._in_thread(lambda: act(opened.graph))

    async def usable(self) -> bool:
        """Whether there is a graph that can be used."""
        opened = await self._newest()
        return opened is not None and not self._is_old(opened.graph.header.built)

    async def state(self) -> State:
        """The state of the file."""
        await self._newest()
        if self._opened is not None and not self._fault:
            built = self._opened.graph.header.built
            return State(OLD, "it is older than the log") if self._is_old(built) else State(OK)
        return State(DAMAGED, self._fault) if self._fault else State(ABSENT)

    def forget_file(self) -> None:
        """Look at the file again at the next walk, without waiting for the next look."""
        self._looked = -self._every

    async def close(self) -> None:
        """Wait for the walk that runs."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        await asyncio.to_thread(self._thread.shutdown)

    def _is_old(self, built: int) -> bool:
        return built < self._clock() - KEPT

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _newest(self) -> _Opened | None:
        """The file, opened again if it was replaced. A file that can't be used is not opened
        twice."""
        async with self._opening:
            now = time.monotonic()
            if now - self._looked < self._every:
                return self._opened
            self._looked = now
            file = await self._in_thread(self._stat)
            if file == self._file:
                return self._opened
            self._file, self._opened, self._fault = file, None, ""
            if file is None:
                return None
            try:
                graph = await self._in_thread(self._open)
            except FileNotFoundError:
                self._file = None
            except (OSError, StoreCorrupt, ValueError) as error:
                self._fault = str(error)
                log.warning("related pins are found without walks: %s", error)
            else:
                self._opened = _Opened(graph, graph.header.built)
            return self._opened

    def _stat(self) -> _File | None:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _open(self) -> "Graph":
        from feed_engine.related import snapshot
        from feed_engine.related.graph import Graph

        return Graph(snapshot.opened(self.path))

    async def _read_on(self, opened: _Opened, patience: float | None) -> None:
        if self._reading is None or self._reading.done():
            if time.monotonic() - self._read < self._every:
                return
            self._reading = asyncio.create_task(self._catch_up(opened))
        await asyncio.wait({self._reading}, timeout=patience)

    async def _catch_up(self, opened: _Opened) -> None:
        """Apply the log's new entries. If the stores fail, the graph is not as fresh."""
        with suppress(StoreError):
            now = self._clock()
            async for page in changes.entries(
                self._stores, max(0, opened.read_to - OVERLAP), now + OVERLAP
            ):
                new = [entry for entry in page if entry not in opened.seen]
                await self._apply(opened.graph, {entry.id for entry in new})
                opened.seen.update(new)
                newest = max(entry.at for entry in page)
                # An entry of a clock that is ahead must not hide entries of other clocks.
                opened.read_to = max(opened.read_to, min(newest, now))
            opened.seen = {entry for entry in opened.seen if entry.at >= opened.read_to - OVERLAP}
            self._read = time.monotonic()

    async def _apply(self, graph: "Graph", ids: Iterable[int]) -> None:
        """Make the graph agree with these objects as they are now."""
        boards = [id for id in ids if kind_of(id) is Kind.BOARD]
        pins = await self._pins([id for id in ids if kind_of(id) is Kind.PIN])
        looked = {*boards, *(pin.board_id for pin in pins)}
        public = await public_boards(self._stores, looked)

        def apply() -> None:
            for board_id in looked - public:
                graph.hide(board_id)
            for pin in pins:
                if pin.active and pin.board_id in public:
                    graph.save(pin.id, pin.root, pin.board_id)
                else:
                    graph.remove(pin.id, pin.root)

        await self._in_thread(apply)

    async def _pins(self, ids: list[int]) -> list[Pin]:
        """The pins, deleted ones too."""
        found: list[Pin] = []
        for start in range(0, len(ids), OBJECTS):
            stored = await self._stores.shards.objects.get(ids[start : start + OBJECTS])
            found += [cast(Pin, records.decode(Kind.PIN, id, data)) for id, data in stored.items()]
        return found

"""`pinway import`: imports a file of bookmarks or JSON Lines, in two passes.

The first pass checks every line and stores the valid lines in a temporary file (`spool`). The
second pass writes them in the order of their dependencies: users and interests, blocks, boards,
sections and collaborators, pins by waves of repins, then comments, likes, follows, mutes and
preferences, in batches of one shard. Every write is idempotent, so an import that was killed can be
run again.
"""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from itertools import islice

from datasources.errors import ConfigError
from datasources.protocols import Stores
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.related.walks import Walks
from feed_engine.search.upkeep import note_all
from gateway.operate.imports import (
    checks,
    choices,
    collaborators,
    edges,
    feeds,
    objects,
    private_keys,
    related,
    sections,
    unique_names,
)
from gateway.operate.imports.events import Fault, Trashed
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.lines import Entries, Entry
from gateway.operate.imports.load import Load, patiently
from gateway.operate.imports.report import (
    Complaints,
    ImportOptions,
    ImportReport,
    OnBad,
    OnProgress,
    Progress,
    silent,
)
from gateway.operate.imports.scratch import database_errors
from gateway.operate.imports.spool import Spool

_STEP = 250
"""Lines between two reports of progress in the first pass. Stores that are being opened in the
meantime get their turns in between."""


async def import_entries(
    stores: Stores,
    entries: Entries,
    *,
    options: ImportOptions | None = None,
    progress: OnProgress = silent,
    on_bad: OnBad | None = None,
    walks: Walks | None = None,
) -> ImportReport:
    """Import lines that were already read."""
    with closing(Import(entries, options or ImportOptions(), on_bad)) as importing:
        await importing.read(progress)
        return await importing.write(stores, progress, walks)


@contextmanager
def first_pass(
    source: Source,
    *,
    options: ImportOptions | None = None,
    on_bad: OnBad | None = None,
) -> Iterator["Import"]:
    """An import of a file. Its first pass needs no stores: they may be opened in the meantime."""
    options = options or ImportOptions()
    entries = source.entries(options)
    with closing(Import(entries, options, on_bad, source)) as importing:
        yield importing


class Import:
    """One import: `read` is its first pass, `write` its second, which needs the stores."""

    def __init__(
        self,
        entries: Entries,
        options: ImportOptions,
        on_bad: OnBad | None,
        source: Source | None = None,
    ) -> None:
        self._entries, self._source, self._options = entries, source, options
        self._report = ImportReport()
        unit = source.unit if source is not None else "line"
        self._complaints = Complaints(self._report, options.strict, on_bad, unit)
        self._spool = _spool(options.spool_dir)

    def close(self) -> None:
        self._spool.close()

    async def read(self, progress: OnProgress) -> None:
        """Check all lines, and store the valid lines in the spool. Reports the lines that are
        invalid by themselves."""
        with self._spool_errors():
            iterator, number = iter(self._entries), 0
            while True:
                before = number
                with _interruptible():
                    for found in islice(iterator, _STEP):
                        number += 1
                        self._take(found)
                if number - before < _STEP:
                    break
                progress(self._step(number))
                await asyncio.sleep(0)  # lets a Ctrl-C through
            self._spool.flush()
            progress(self._step(number, ended=True))

    async def write(
        self,
        stores: Stores,
        progress: OnProgress,
        walks: Walks | None = None,
        limits: FeedSettings = DEFAULTS,
    ) -> ImportReport:
        """Write the lines into the stores. The feeds have the given limits. With `walks`, build
        the graph of related pins again, and fill the importing users' pools from it."""
        with self._spool_errors():
            load = Load(
                stores=stores,
                spool=self._spool,
                options=self._options,
                report=self._report,
                complaints=self._complaints,
                progress=progress,
                walks=walks,
                limits=limits,
            )
            await write_lines(load)
        return self._report

    def _take(self, found: Entry | Fault | Trashed) -> None:
        if isinstance(found, Fault):
            self._complaints.add(found.line, found.message, kept=found.kept)
            return
        if isinstance(found, Trashed):
            self._report.trashed_links += 1
            return
        self._report.private_links += found.private
        self._spool.add(found)

    def _step(self, number: int, *, ended: bool = False) -> Progress:
        size = self._source.size if self._source is not None else None
        if self._source is None or not size:
            return Progress("reading", number, number if ended else None, "lines")
        return Progress("reading", size if ended else self._source.position(), size, "B")

    def _spool_errors(self) -> AbstractContextManager[None]:
        where = self._options.spool_dir or "the system's temporary directory"
        return database_errors(f"the import's temporary file in {where}")


def _spool(directory: str | None) -> Spool:
    try:
        return Spool(directory)
    except OSError as error:
        raise ConfigError(f"can't make a temporary file in {directory}: {error.strerror}") from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """In the block, Ctrl-C also ends a read that waits for a pipe or a terminal. asyncio's handler
    of SIGINT only cancels a task, and the task doesn't notice before the read returns. Raises
    CancelledError if the task was cancelled before the block."""
    task, handler = asyncio.current_task(), signal.getsignal(signal.SIGINT)
    swapped = callable(handler) and threading.current_thread() is threading.main_thread()
    if swapped:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if task is not None and task.cancelling():  # cancelled by a signal between two blocks
            raise asyncio.CancelledError
        yield
    finally:
        if swapped:
            signal.signal(signal.SIGINT, handler)


async def write_lines(load: Load) -> None:
    """The second pass: write the spool's lines into the stores."""
    checks.index(load.spool)
    checks.doubles(load.spool, load.complaints)
    await unique_names.find_existing(load, unique_names.USERS)
    await unique_names.find_existing(load, unique_names.INTERESTS)
    checks.references(load.spool, load.complaints)
    whole = await unique_names.store_new(load, unique_names.USERS)
    whole &= await unique_names.store_new(load, unique_names.INTERESTS)
    await private_keys.claim_keys(load)
    if not whole:
        checks.references(load.spool, load.complaints)
    await choices.load_blocks(load)
    if not await objects.load_boards(load):
        checks.references(load.spool, load.complaints)
    await sections.load_sections(load)
    await collaborators.load_collaborators(load)
    await objects.load_pins(load)
    await objects.set_covers(load)
    await sections.fill_sections(load)
    await objects.load_comments(load)
    await edges.load_likes(load)
    await edges.load_follows(load)
    await choices.end_blocked_follows(load)
    await choices.load_preferences(load)
    await patiently(partial(note_all, load.stores))
    if load.options.feeds:
        await feeds.build(load)
        if load.walks is not None:
            await related.build_related(load, load.walks)

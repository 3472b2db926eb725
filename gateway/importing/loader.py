"""`pinway import`: imports a file of bookmarks or JSON Lines, in two passes.

The first pass checks every line and stores the valid lines in a temporary file (`spool`). The
second pass writes them in the order of their dependencies: users and interests, boards, pins by
waves of repins, then comments, likes and follows, in batches of one shard. Every write is
idempotent, so an import that was killed can be run again.
"""

import asyncio
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from datasources.errors import BadInput, ConfigError, StoreUnavailable
from datasources.protocols import Stores
from feed_engine.transactions import validation
from gateway.importing import checks, edges, feeds, named, objects
from gateway.importing.bookmarks import Fault
from gateway.importing.entries import (
    Entries,
    bookmark_lines,
    is_binary,
    json_lines,
    looks_like_bookmarks,
)
from gateway.importing.load import Load
from gateway.importing.report import (
    Complaints,
    ImportOptions,
    ImportReport,
    OnBad,
    OnProgress,
    silent,
)
from gateway.importing.spool import Spool

_STEP = 2000  # lines between two reports of progress in the first pass


async def import_file(
    stores: Stores,
    path: Path,
    *,
    options: ImportOptions | None = None,
    progress: OnProgress = silent,
    on_bad: OnBad | None = None,
) -> ImportReport:
    """Import a file ("-": standard input). Raises OSError for a file that can't be read, BadInput
    for options that don't fit the file, ImportStopped in a strict import, and stores' errors. After
    any error it may be run again."""
    options = options or ImportOptions()
    with _opened(path) as (file, size, modified):
        owner = _owner_of(file, options)
        entries: Entries = (
            json_lines(file)
            if owner is None
            else bookmark_lines(file, owner=owner, secret=options.secret, default_ms=modified)
        )

        def position() -> int:
            return file.tell() if size is not None else 0

        return await import_entries(
            stores,
            entries,
            options=options,
            progress=progress,
            on_bad=on_bad,
            position=position,
            size=size,
        )


def check_file(path: Path, options: ImportOptions) -> None:
    """Raise the errors that `import_file` would raise for the options and the start of the file,
    before any store is opened."""
    with _opened(path) as (file, _, _):
        _owner_of(file, options)


def _owner_of(file: IO[bytes], options: ImportOptions) -> str | None:
    """The name of the user who owns the bookmarks; None for JSON Lines. Raises BadInput."""
    head = file.peek(512)[:512] if hasattr(file, "peek") else b""
    if options.format == "jsonl" or (options.format == "auto" and not looks_like_bookmarks(head)):
        if is_binary(head):
            raise BadInput(
                "the file holds binary data: import JSON Lines or a browser's bookmarks (HTML), "
                "unpacked"
            )
        return None
    if options.owner is None:
        raise BadInput("bookmarks need an owner: name the user with --as USERNAME")
    return validation.username(options.owner)


async def import_entries(
    stores: Stores,
    entries: Entries,
    *,
    options: ImportOptions | None = None,
    progress: OnProgress = silent,
    on_bad: OnBad | None = None,
    position: Callable[[], int] | None = None,
    size: int | None = None,
) -> ImportReport:
    """Import lines that were already read. `position` returns the number of bytes read so far, of
    `size`."""
    options = options or ImportOptions()
    report = ImportReport()
    complaints = Complaints(report, options.strict, on_bad)
    spool = _spool(options.spool_dir)
    load = Load(stores, spool, options, report, complaints, progress)
    try:
        await _read(load, entries, position, size)
        await _write(load)
    except sqlite3.Error as error:  # from the spool: stores raise other errors
        where = options.spool_dir or "the system's temporary directory"
        raise StoreUnavailable(f"the import's temporary file in {where}: {error}") from error
    finally:
        spool.close()
    return report


def _spool(directory: str | None) -> Spool:
    try:
        return Spool(directory)
    except OSError as error:
        raise ConfigError(f"can't make a temporary file in {directory}: {error.strerror}") from None


async def _read(
    load: Load, entries: Entries, position: Callable[[], int] | None, size: int | None
) -> None:
    """The first pass. Reports the lines that are invalid by themselves."""
    iterator, number, unit = iter(entries), 0, "B" if size else "lines"
    while True:
        before = number
        with _interruptible():
            for entry in islice(iterator, _STEP):
                number += 1
                if isinstance(entry, Fault):
                    load.complaints.add(entry.line, entry.message, kept=entry.kept)
                else:
                    load.spool.add(entry)
        if number - before < _STEP:
            break
        load.step("reading", position() if position and size else number, size, unit)
        await asyncio.sleep(0)  # lets a Ctrl-C through
    load.spool.flush()
    load.step("reading", size or number, size or number, unit)


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


async def _write(load: Load) -> None:
    """The second pass."""
    checks.index(load.spool)
    checks.doubles(load.spool, load.complaints)
    await named.find_existing(load, named.USERS)
    await named.find_existing(load, named.INTERESTS)
    checks.references(load.spool, load.complaints)
    whole = await named.store_new(load, named.USERS)
    whole &= await named.store_new(load, named.INTERESTS)
    if not whole:
        checks.references(load.spool, load.complaints)
    if not await objects.load_boards(load):
        checks.references(load.spool, load.complaints)
    await objects.load_pins(load)
    await objects.set_covers(load)
    await objects.load_comments(load)
    await edges.load_likes(load)
    await edges.load_follows(load)
    if load.options.feeds:
        await feeds.build(load)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int | None, int]]:
    """The file, its size, and the time of its last change (epoch ms), if known."""
    if str(path) == "-":
        yield sys.stdin.buffer, None, 0
        return
    with path.open("rb") as file:
        stat = path.stat()
        yield file, stat.st_size, stat.st_mtime_ns // 1_000_000

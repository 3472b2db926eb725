"""Builds the snapshot of the graph, by reading all boards and all pins of the shards."""

import asyncio
import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from datasources.clocks import now_ms
from datasources.errors import StoreConflict, StoreCorrupt
from datasources.ids import Kind
from datasources.protocols import Stores
from feed_engine.related import changes, snapshot
from feed_engine.related.arrays import Saves
from feed_engine.related.snapshot import Header

PAGE = 2000  # objects in a read

OnPins = Callable[[int], None]
"""Called with the number of pins read so far."""


class _Board(msgspec.Struct):
    active: bool = True
    secret: bool = False


class _Pin(msgspec.Struct):
    board_id: int
    created: int = 0
    active: bool = True
    source_id: int | None = None
    root_id: int | None = None


_BOARD, _PIN = msgspec.json.Decoder(_Board), msgspec.json.Decoder(_Pin)


async def build(
    stores: Stores,
    path: Path,
    *,
    on_pins: OnPins = lambda pins: None,
    clock: Callable[[], int] = now_ms,
) -> Header:
    """Read all shards and replace the snapshot. What changes meanwhile is in the log of changes.
    Raises StoreConflict if another process builds it now, StoreError when a shard can't be read,
    OSError when the file can't be written."""
    with _alone(path):
        built = clock()
        saves = await _saves(stores, on_pins)
        header = await asyncio.to_thread(
            lambda: snapshot.write(path, saves.arrange(), built=built, pins=len(saves))
        )
        await changes.forget(stores, built)
        return header


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreConflict("another process of this host builds the graph now") from None
        yield


async def _saves(stores: Stores, on_pins: OnPins) -> Saves:
    public = await _public_boards(stores)
    saves, read, after = Saves(), 0, 0
    while rows := await stores.shards.objects.list(Kind.PIN, after, PAGE):
        for id, data in rows:
            try:
                pin = _PIN.decode(data)
            except msgspec.MsgspecError as error:
                raise StoreCorrupt(f"pin {id}: {error}") from error
            if pin.active and pin.board_id in public:
                saves.add(id, pin.root_id or pin.source_id or id, pin.board_id, pin.created)
        after = rows[-1][0]
        read += len(rows)
        on_pins(read)
    return saves


async def _public_boards(stores: Stores) -> set[int]:
    public, after = set[int](), 0
    while rows := await stores.shards.objects.list(Kind.BOARD, after, PAGE):
        for id, data in rows:
            try:
                board = _BOARD.decode(data)
            except msgspec.MsgspecError as error:
                raise StoreCorrupt(f"board {id}: {error}") from error
            if board.active and not board.secret:
                public.add(id)
        after = rows[-1][0]
    return public

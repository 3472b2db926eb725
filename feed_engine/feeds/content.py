"""Reads pins, boards and the newest pins of lists for the feeds' jobs, from the master shards."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, cast

import msgspec

from datasources import records
from datasources.errors import StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, ListKey, PageRequest, Position
from datasources.protocols import Stores
from datasources.records import Board, Pin


class PinLike(Protocol):
    """The fields of a pin from which a feed's cell is made."""

    @property
    def id(self) -> int: ...
    @property
    def created(self) -> int: ...
    @property
    def owner_id(self) -> int: ...
    @property
    def board_id(self) -> int: ...
    @property
    def root(self) -> int: ...


class BriefPin(NamedTuple):
    id: int
    created: int  # epoch ms
    owner_id: int
    board_id: int
    root: int  # the first pin of its chain of repins; its own id if it is not a repin


class _Stored(msgspec.Struct):
    """The few fields of a stored pin that `newest_pins` needs. It reads very many pins."""

    owner_id: int
    board_id: int
    created: int = 0
    active: bool = True
    source_id: int | None = None
    root_id: int | None = None


_STORED = msgspec.json.Decoder(_Stored)

OBJECTS = 2000  # objects a read
ROWS = 50_000  # mapping rows a read


async def load_pins(stores: Stores, ids: Iterable[int]) -> dict[int, Pin]:
    """The pins of `ids` that exist and are active."""
    wanted = list(dict.fromkeys(ids))
    found: dict[int, Pin] = {}
    for start in range(0, len(wanted), OBJECTS):
        stored = await stores.shards.objects.get(wanted[start : start + OBJECTS])
        for id, data in stored.items():
            pin = cast(Pin, records.decode(Kind.PIN, id, data))
            if pin.active:
                found[id] = pin
    return found


async def public_boards(stores: Stores, ids: Iterable[int]) -> set[int]:
    """The boards of `ids` that exist, are active and are not secret."""
    wanted = list(dict.fromkeys(ids))
    found: set[int] = set()
    for start in range(0, len(wanted), OBJECTS):
        stored = await stores.shards.objects.get(wanted[start : start + OBJECTS])
        for id, data in stored.items():
            board = cast(Board, records.decode(Kind.BOARD, id, data))
            if board.active and not board.secret:
                found.add(id)
    return found


async def public_pins(stores: Stores, ids: Iterable[int]) -> dict[int, Pin]:
    """The pins of `ids` that everybody may see: active, and on a public board."""
    pins = await load_pins(stores, ids)
    boards = await public_boards(stores, {pin.board_id for pin in pins.values()})
    return {id: pin for id, pin in pins.items() if pin.board_id in boards}


async def public_pin(stores: Stores, pin_id: int) -> Pin | None:
    """The pin, if everybody may see it. None otherwise."""
    return (await public_pins(stores, [pin_id])).get(pin_id)


async def newest_ids(
    stores: Stores, keys: Sequence[ListKey], limit: int, until: int | None = None
) -> dict[ListKey, list[int]]:
    """The first pin ids of each list, up to `limit`. `until`: only pins with lower sequences than
    this epoch ms."""
    after = None if until is None else Position((until + 1) * SEQUENCE_STEP, 0)
    each = max(1, ROWS // max(1, limit))
    found: dict[ListKey, list[int]] = {}
    for start in range(0, len(keys), each):
        some = keys[start : start + each]
        pages = await stores.shards.mappings.pages([PageRequest(k, limit, after) for k in some])
        found.update(
            (k, [edge.to_id for edge in page]) for k, page in zip(some, pages, strict=True)
        )
    return found


async def newest_pins(
    stores: Stores, keys: Sequence[ListKey], limit: int
) -> dict[ListKey, list[BriefPin]]:
    """The active pins among the first `limit` pins of each list."""
    ids = await newest_ids(stores, keys, limit)
    pins = await _brief_pins(stores, (id for some in ids.values() for id in some))
    return {key: [pins[id] for id in some if id in pins] for key, some in ids.items()}


async def _brief_pins(stores: Stores, ids: Iterable[int]) -> dict[int, BriefPin]:
    wanted = list(dict.fromkeys(ids))
    found: dict[int, BriefPin] = {}
    for start in range(0, len(wanted), OBJECTS):
        stored = await stores.shards.objects.get(wanted[start : start + OBJECTS])
        for id, data in stored.items():
            try:
                pin = _STORED.decode(data)
            except msgspec.MsgspecError as error:
                raise StoreCorrupt(f"pin {id}: {error}") from error
            if pin.active:
                root = pin.root_id or pin.source_id or id
                found[id] = BriefPin(id, pin.created, pin.owner_id, pin.board_id, root)
    return found

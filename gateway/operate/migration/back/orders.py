"""Brings the order of the pins on a board to the old database.

The numbers of the rows stay as they are while they give the same order. Otherwise, the last pin
keeps its number, and each pin above it keeps its own if that is above, or gets the next one. If
that is impossible, all pins of the board get new numbers.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping, PageRequest
from datasources.protocols import ShardStore
from datasources.sql.source_tables import RowRefused
from gateway.operate.imports.jsonl import PinLine, created_ms, sequence_of
from gateway.operate.imports.load import patiently
from gateway.operate.migration.back.bringing import Bringer, Brought, Difference
from gateway.operate.migration.back.graph import graph_of
from gateway.operate.migration.back.ledger import BackLedger, Note, Settled, Subject
from gateway.operate.migration.back.scanning import order_digest
from gateway.operate.migration.back.targets import Target
from gateway.operate.migration.conversion import HIGHEST_PLACE

_PAGE = 500
_ROOM = 1000  # numbers below a renumbered board's first number, for later pins


class _Pin(NamedTuple):
    """A pin's row: its sequence, and its place, if its number gives it one."""

    id: int
    target: Target
    key: str
    sequence: int

    @property
    def place(self) -> int | None:
        place = self.sequence // SEQUENCE_STEP
        return place if place <= HIGHEST_PLACE else None


async def bring_orders(
    shards: ShardStore, bringer: Bringer, ledger: BackLedger, subjects: Sequence[Subject]
) -> list[Brought]:
    """Bring the orders of boards."""
    graph = await graph_of(shards, [subject.a for subject in subjects])
    return [
        await _bring(shards, bringer, ledger, subject)
        if graph.stands(subject.a)
        else Brought(Settled(subject, False, b"", ()))
        for subject in subjects
    ]


async def _bring(
    shards: ShardStore, bringer: Bringer, ledger: BackLedger, subject: Subject
) -> Brought:
    edges = await _edges(shards, subject.a)
    digest = order_digest((edge.sequence, edge.to_id) for edge in edges)
    pins = await _pins(bringer, ledger, [edge.to_id for edge in edges])
    sequences = [pin.sequence for pin in pins]
    settled = Settled(subject, True, digest, ())
    if all(above > below for above, below in pairwise(sequences)):
        return Brought(settled)
    if not bringer.write:
        rows = [pin.key for pin in sorted(pins, key=lambda pin: pin.sequence, reverse=True)]
        shown = (", ".join(keys[:20]) for keys in ([pin.key for pin in pins], rows))
        return Brought(settled, differences=[Difference(subject, None, "order", *shown)])
    first = _first(pins[0].target)
    if first is None or any(_first(pin.target) != first for pin in pins):
        message = "order: no column has it, or several tables have the board's pins"
        return Brought(settled._replace(notes=[Note(message, kept=True)]))
    try:
        for pin, place in zip(pins, places([it.place for it in pins], first), strict=True):
            if place != pin.place:
                await bringer.number(pin.target, pin.key, place)
    except RowRefused as error:
        return Brought(settled._replace(notes=[Note(f"order: {error}", kept=True)]))
    return Brought(settled, changed=True)


def places(present: Sequence[int | None], first: str) -> list[int]:
    """Descending places for the pins of a board, from its first one, that change few of the present
    places. `first`: whether the lowest or the highest number comes first."""
    found, below = list[int](), present[-1]
    for place in reversed(present):
        if below is None or below > HIGHEST_PLACE:
            break
        if found:
            below = place if place is not None and place > below else below + 1
        found.append(below)
    if len(found) < len(present) or found[-1] > HIGHEST_PLACE:
        top = HIGHEST_PLACE - _ROOM if first == "lowest" else len(present)
        return [top - n for n in range(len(present))]
    return found[::-1]


def _first(target: Target) -> str | None:
    """The number that comes first: "lowest" or "highest"; None if the table has no numbers."""
    origin = target.origins.get("sequence")
    return None if origin is None else origin.first or "lowest"


async def _edges(shards: ShardStore, board_id: int) -> list[Edge]:
    """The rows of the board's pins, in their order."""
    found = list[Edge]()
    request: PageRequest | None = PageRequest(ListKey(Mapping.BOARD_HAS_PINS, board_id), _PAGE)
    while request:
        [page] = await patiently(partial(shards.mappings.pages, [request]))
        found += page
        request = request.next(page)
    return found


async def _pins(bringer: Bringer, ledger: BackLedger, ids: Sequence[int]) -> list[_Pin]:
    """The pins that have a row, in the same order."""
    known = {id: it for id, it in ledger.known(ids).items() if it.stands and it.key is not None}
    lines = await bringer.lines("pin", known)
    found = list[_Pin]()
    for id in ids:
        if id in lines and isinstance(line := lines[id][1], PinLine):
            sequence = int(line.sequence or sequence_of(line.key, created_ms(line)))
            found.append(_Pin(id, lines[id][0], line.key, sequence))
    return found

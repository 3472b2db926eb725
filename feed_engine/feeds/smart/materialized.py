"""The materialized feed: the pins that a user was shown, by the visit's generation, newest first.

Beside it, a row marks the shown pins, which the generator must not choose again for `shown_days`
days. Both sides store both rows. Cells are stamped with the visit's time.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from datasources.errors import StoreError
from datasources.protocols import Cell, Sides, WideColumnStore
from feed_engine.feeds.counts import COUNTS
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    MATERIALIZED,
    MAX_POSITION,
    SHOWN,
    Place,
    Reason,
    id_row,
    parse_place,
    parse_shown_at,
    parse_shown_pin,
    place_column,
    shown_at,
    shown_pin,
)
from feed_engine.feeds.wide import delete_both, put_both, read_row, remove, trim_both


class ShownPin(NamedTuple):
    place: Place
    pin_id: int
    reason: Reason


async def read(store: WideColumnStore, user_id: int, after: bytes | None, limit: int) -> list[Cell]:
    """Up to `limit` pins behind a column of the row, the newest generation first."""
    return await store.read(MATERIALIZED, id_row(user_id), after=after, limit=limit)


def shown(cell: Cell) -> ShownPin:
    """The entry of a visit, from a cell that `read` returned."""
    return ShownPin(parse_place(cell.column), *parse_shown_pin(cell.value))


async def shown_among(store: WideColumnStore, user_id: int, pins: Sequence[int]) -> set[int]:
    """The given pins that a saved visit of the user showed."""
    cells = await store.get(SHOWN, id_row(user_id), [id_row(pin) for pin in pins]) if pins else {}
    return {int.from_bytes(column, "big") for column in cells}


async def shown_to(sides: Sides, user_id: int, pins: Sequence[int]) -> set[int]:
    """The given pins that a saved visit of the user showed, by the primary; by the standby if the
    primary fails. Raises StoreError if both fail."""
    try:
        return await shown_among(sides.primary, user_id, pins)
    except StoreError:
        return await shown_among(sides.standby, user_id, pins)


async def save(
    sides: Sides,
    user_id: int,
    generation: int,
    pins: Sequence[tuple[int, Reason]],
    at: int,
    roots: Collection[int] = (),
) -> None:
    """Write a visit's chunk to both sides. `roots` are the first pins of the chunk's chains of
    repins: they are marked as shown, and have no place of their own. A pin that an earlier visit
    also has is removed there: it was chosen again while no side could say what had been shown."""
    if not pins:
        return
    row = id_row(user_id)
    columns = [id_row(pin) for pin, _ in pins]
    before = await sides.primary.get(SHOWN, row, columns)
    places = [Place(generation, position) for position in range(len(pins))]
    cells = {place_column(place): shown_pin(*pin) for place, pin in zip(places, pins, strict=True)}
    moved = [
        place_column(earlier)
        for cell in before.values()
        if (earlier := parse_shown_at(cell.value)).generation < generation
    ]
    await put_both(sides, MATERIALIZED, {row: cells}, at)
    if moved:
        await delete_both(sides, MATERIALIZED, {row: moved}, at)
    marks = {id_row(root): shown_at(Place(generation, MAX_POSITION)) for root in roots}
    marks |= {column: shown_at(place) for column, place in zip(columns, places, strict=True)}
    await put_both(sides, SHOWN, {row: marks}, at)


async def trim(sides: Sides, user_id: int, keep: int) -> None:
    """Keep the newest `keep` shown pins. The marks stay, so that no pin returns as new."""
    await trim_both(sides, MATERIALIZED, [id_row(user_id)], keep)


async def forget_shown(sides: Sides, user_id: int, before: int) -> None:
    """Remove the marks of pins that were shown before an epoch ms: they may be shown as new again.
    A pin that is still in the materialized feed keeps its mark; otherwise a visit could list it
    twice."""
    row = id_row(user_id)

    async def forget(store: WideColumnStore) -> None:
        feed = await read_row(store, MATERIALIZED, row)
        oldest = parse_place(feed[-1].column).generation if feed else None
        gone = []
        for cell in await read_row(store, SHOWN, row):
            generation = parse_shown_at(cell.value).generation
            if cell.stamp < before and (oldest is None or generation < oldest):
                gone.append(cell)
        await remove(store, SHOWN, row, gone)
        COUNTS.shown_forgotten += len(gone)

    await write_both(sides, forget)

"""Drags that halve one gap repeatedly: at least 83 times, as the published figure promises."""

from datasources.mappings import SEQUENCE_STEP, ListKey, Mapping
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.ordering import order
from tests.people import People

HALVINGS = order.bisections(0, SEQUENCE_STEP)
WAYS = ["below the upper", "above the lower", "by turns", "zigzag", "at the bottom", "on top"]


async def halve(stores: Stores, people: People, way: str) -> None:
    """Drag 83 pins into a millisecond's gap (or to an end of the board, where the lowest pin is of
    the first millisecond). Checks that each drag writes one row at exactly its place, and no row is
    respaced."""
    assert HALVINGS == 83
    board = await people.board(await people.user())
    key = ListKey(Mapping.BOARD_HAS_PINS, board.id)

    async def save(at: int) -> int:
        new = writes.NewPin(board_id=board.id)
        return (await writes.create_pin(stores, board.owner_id, new, at=at)).pin.id

    lower, upper, *spare = [await save(at) for at in range(1, 3 + HALVINGS)]
    shown = [*reversed(spare), upper, lower]
    version = (await stores.shards.mappings.heads([key]))[key].version
    edge_above, edge_below = upper, lower
    for number, moved in enumerate(spare):
        downward = {"below the upper": True, "above the lower": False, "by turns": number % 2 == 0}
        before: int | None = None
        after: int | None = None
        if way == "at the bottom":
            before = shown[-1]
        elif way == "on top":
            after = shown[0] if shown[0] != moved else None
            if after is None:
                continue
        elif way == "zigzag":  # into the gap above the last pin, then into the gap below it, ...
            before, after = edge_above, edge_below
        elif downward[way]:
            before = upper if way == "below the upper" else edge_above
        else:
            after = lower if way == "above the lower" else edge_below
        done = await writes.reorder_pin(stores, board.owner_id, board.id, moved, before, after)
        version += 1
        assert (done.version, done.edge.version, done.edge.era) == (version, 2, 0)
        shown.remove(moved)
        shown.insert(shown.index(before) + 1 if before else shown.index(after or 0), moved)
        if number % 2:
            edge_above = moved
        else:
            edge_below = moved
    rows = await people.rows(*key)
    assert [row.to_id for row in rows] == shown
    assert len({row.sequence for row in rows}) == len(rows)

"""Graphs of the tests' stores, as they are now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from datasources.ids import Kind
from datasources.protocols import Job, Stores
from datasources.records import Board, Pin, User
from feed_engine import writes
from feed_engine.feeds.rows import POOLS, Source, parse_pool, parse_why, pool_row
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.related.build import build
from feed_engine.related.graph import Graph
from feed_engine.related.walks import Walks
from tests.feeds import Feeding


@asynccontextmanager
async def walking(stores: Stores, folder: Path, *, built: bool = True) -> AsyncIterator[Walks]:
    """Walks that look at the file and at the log each time."""
    walks = Walks(stores, folder / "related" / "graph", every=0.0)
    if built:
        await build(stores, walks.path)
    try:
        yield walks
    finally:
        await walks.close()


async def edges(walks: Walks) -> set[tuple[int, int]]:
    """The (root id, board id) of the graph now, of the boards that are not hidden."""

    def read(graph: Graph) -> set[tuple[int, int]]:
        return {
            (graph.root_names.id(root), graph.board_names.id(board))
            for board in range(len(graph.board_names))
            for root in graph.boards.of(board).tolist()
        }

    found = await walks.run(read, patient=True)
    assert found is not None
    return found


async def public(stores: Stores) -> set[tuple[int, int]]:
    """The edges that the shards have: the model of the graph."""
    from datasources import records

    found: set[tuple[int, int]] = set()
    for id, data in await stores.shards.objects.list(Kind.PIN, 0, 10_000):
        pin = records.decode(Kind.PIN, id, data)
        assert isinstance(pin, Pin)
        raw = (await stores.shards.objects.get([pin.board_id]))[pin.board_id]
        board = records.decode(Kind.BOARD, pin.board_id, raw)
        assert isinstance(board, Board)
        if pin.active and board.active and not board.secret:
            found.add((pin.root, board.id))
    return found


async def drain_with(stores: Stores, walks: Walks) -> None:
    """Run jobs until none is left, as a worker with a graph would."""
    await settle()
    while rows := await stores.shards.outbox.pending(2**62, 1000):
        for row in rows:
            assert not row.attempts, await stores.shards.outbox.parked()
            await run_job(stores, Job(row.shard, row.id), walks=walks)


async def pool(feeding: Feeding, viewer: User) -> list[tuple[int, int]]:
    """The (pin, cause) in the viewer's pool of related pins, best first, the same on both sides."""
    sides = []
    for side in feeding.stores.pools:
        cells = await read_row(side, POOLS, pool_row(viewer.id, Source.RELATED))
        sides.append([(parse_pool(c.column).pin_id, parse_why(c.value).cause_id) for c in cells])
    assert sides[0] == sides[1]
    return sides[0]


async def repin(feeding: Feeding, user: User, pin: Pin, board: Board) -> Pin:
    return (await writes.repin(feeding.stores, user.id, pin.id, board.id)).pin

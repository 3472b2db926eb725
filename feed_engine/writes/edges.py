"""Edges that a viewer sets and clears: likes and follows, with a row for each direction.

The viewer's own row decides. Its version grows by one with each change: odd when the edge is set,
even when it is cleared. The reverse row is a copy.
"""

from collections.abc import Awaitable, Callable

from datasources.errors import NotFound
from datasources.mappings import REVERSE, SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine.live.events import Event, PinChange, PinEvent
from feed_engine.outbox.change import AnyTask, Change, change
from feed_engine.transactions import blocks
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, row_of

Check = Callable[[], Awaitable[int]]
"""Returns the user at whom the edge is directed, for quotas (0: nobody). Raises NotFound."""
Tasks = Callable[[Edge], list[AnyTask]]
Beside = Callable[[ShardTx, Rows, Edge], Awaitable[None]]
"""Writes further rows of the transaction. The edge is the new row, or the row that is cleared."""


async def set_edge(
    stores: Stores,
    mutation: Mutation,
    mapping: Mapping,
    target_id: int,
    at: int,
    check: Check,
    tasks: Tasks = lambda _: [],
    beside: Beside | None = None,
) -> Edge:
    """Set the edge from the viewer to the target, if `check` finds the target. An edge that is
    already set stays."""

    async def work(tx: ShardTx, toward: int) -> Outcome[Edge]:
        row = await _locked(tx, mapping, mutation.viewer_id, target_id)
        if row is not None and row.active:
            return _unchanged(mapping, row)
        version = row.version + 1 if row else 1
        edge = Edge(mutation.viewer_id, target_id, at * SEQUENCE_STEP, version)
        rows = Rows(tx)
        if beside is not None:
            await beside(tx, rows, edge)
        return await _put(rows, mapping, edge, tasks, toward)

    return await mutate(stores, mutation, check, work, _again)


async def clear_edge(
    stores: Stores,
    mutation: Mutation,
    mapping: Mapping,
    target_id: int,
    check: Check,
    tasks: Tasks = lambda _: [],
    beside: Beside | None = None,
) -> Edge:
    """Clear the edge. It may be cleared even if the viewer can no longer see the target. If there
    is no edge, `check` says whether the target exists."""

    async def prepare() -> int | NotFound:
        try:
            return await check()
        except NotFound as error:
            return error

    async def work(tx: ShardTx, found: int | NotFound) -> Outcome[Edge]:
        row = await _locked(tx, mapping, mutation.viewer_id, target_id)
        if row is not None and row.active:
            edge = row._replace(version=row.version + 1, active=False)
            toward = 0 if isinstance(found, NotFound) else found
            rows = Rows(tx)
            if beside is not None:
                await beside(tx, rows, row)
            return await _put(rows, mapping, edge, tasks, toward)
        if isinstance(found, NotFound):
            raise found
        return _unchanged(mapping, row or Edge(mutation.viewer_id, target_id, 0, 0, False))

    return await mutate(stores, mutation._replace(takes_back=True), prepare, work, _again)


async def _locked(tx: ShardTx, mapping: Mapping, viewer_id: int, target_id: int) -> Edge | None:
    await tx.head(ListKey(mapping, viewer_id))
    return await tx.edge(EdgeKey(mapping, viewer_id, target_id))


async def _put(
    rows: Rows, mapping: Mapping, edge: Edge, tasks: Tasks, toward: int
) -> Outcome[Edge]:
    await rows.put(mapping, edge)
    await rows.put(REVERSE[mapping], edge.reversed())
    objects = _cached(mapping, edge)
    following = rows.change(objects=objects, tasks=tasks(edge), events=events_of(mapping, edge))
    return Outcome(edge, Saved(row=row_of(edge)), following, toward=toward)


def events_of(mapping: Mapping, edge: Edge) -> list[Event]:
    """The events of an edge that was set or cleared."""
    if mapping is not Mapping.USER_LIKES_PINS:
        return []
    kind = PinChange.LIKED if edge.active else PinChange.UNLIKED
    return [PinEvent(pin_id=edge.to_id, change=kind)]


def _cached(mapping: Mapping, edge: Edge) -> list[int]:
    """The entries of the object cache that have the edge."""
    if mapping is not Mapping.USER_BLOCKS_USERS:
        return []
    return [blocks.cache_key(id) for id in (edge.from_id, edge.to_id)]


def _unchanged(mapping: Mapping, edge: Edge) -> Outcome[Edge]:
    """The outcome of a write that changes nothing. Unfinished work of the earlier write must be
    completed before this write is answered."""
    following = Change()
    if edge.version:
        following = change(
            edges=[(REVERSE[mapping], edge.reversed())],
            lists=[ListKey(mapping, edge.from_id)],
            objects=_cached(mapping, edge),
        )
    return Outcome(edge, Saved(row=row_of(edge)), following, durable=False)


async def _again(saved: Saved) -> Edge:
    return saved.edge()

"""The contracts of MappingStore and of mapping rows in transactions, over SQLite and MySQL."""

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, example
from hypothesis import strategies as st

from datasources.errors import StoreConflict
from datasources.ids import Kind
from datasources.mappings import (
    MAX_SEQUENCE,
    SEQUENCE_STEP,
    Edge,
    EdgeKey,
    ListHead,
    ListKey,
    Mapping,
    PageRequest,
    Position,
)
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id
from tests.generated import given, settings

pytestmark = pytest.mark.anyio
SOME = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PINS, LIKES = Mapping.BOARD_HAS_PINS, Mapping.USER_LIKES_PINS


async def read_list(shards: SqlShards, key: ListKey) -> list[Edge]:
    [page] = await shards.mappings.pages([PageRequest(key, 10_000)])
    return page


def expected(edges: Sequence[Edge]) -> list[Edge]:
    """The active rows of the newest versions, in a list's order."""
    newest: dict[int, Edge] = {}
    for edge in sorted(edges, key=lambda e: e.version):
        newest[edge.to_id] = edge
    active = [edge for edge in newest.values() if edge.active]
    return sorted(active, key=lambda e: (e.sequence, e.to_id), reverse=True)


writes = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=5
)


@pytest.mark.parametrize("mapping", [PINS, LIKES])
@SOME
@given(writes=writes, seed=st.integers())
async def test_writes_of_the_same_rows_commute(
    deployment: Deployment,
    shards: SqlShards,
    mapping: Mapping,
    writes: list[tuple[int, int, bool]],
    seed: int,
) -> None:
    def edges(from_id: int) -> list[tuple[Mapping, Edge]]:
        return [
            (mapping, Edge(from_id, to_id, to_id * 10 + sequence, version, active))
            for version, (to_id, sequence, active) in enumerate(writes, 1)
        ]

    orders = list(itertools.permutations(range(len(writes))))
    rng = random.Random(seed)
    lists: list[int] = []
    for order in rng.sample(orders, min(len(orders), 6)):
        from_id = fresh_id(Kind.BOARD, deployment.shard(0))
        lists.append(from_id)
        in_order = [edges(from_id)[n] for n in order]
        # Each row is written in another way, and sometimes twice.
        for edge in [*in_order, rng.choice(in_order)]:
            match rng.randrange(3):
                case 0:
                    await shards.mappings.apply([edge])
                case 1:
                    await shards.mappings.load([edge])
                case _:
                    await shards.objects.transact(
                        deployment.shard(0), lambda tx, edge=edge: tx.put_edge(*edge)
                    )
    together = fresh_id(Kind.BOARD, deployment.shard(0))
    await shards.mappings.apply(edges(together))
    for from_id in [*lists, together]:
        rows = expected([edge for _, edge in edges(from_id)])
        key = ListKey(mapping, from_id)
        assert await read_list(shards, key) == rows
        assert (await shards.mappings.heads([key]))[key].size == len(rows)


@SOME
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(1, 50), st.booleans()),
        max_size=60,
        unique_by=lambda r: r[1],
    ),
    after=st.none() | st.tuples(st.integers(-1, 10), st.integers(0, 51)),
    limit=st.integers(0, 20),
    ascending=st.booleans(),
)
@example(rows=[(0, 1, True)], after=(-1, 2), limit=1, ascending=False)
@example(rows=[(0, 1, True)], after=(-1, 2), limit=1, ascending=True)
async def test_a_page_at_any_depth_equals_the_model(
    deployment: Deployment,
    shards: SqlShards,
    rows: list[tuple[int, int, bool]],
    after: tuple[int, int] | None,
    limit: int,
    ascending: bool,
) -> None:
    key = ListKey(LIKES, fresh_id(Kind.USER, deployment.shard(1)))
    edges = [Edge(key.from_id, to_id, sequence, 1, active) for sequence, to_id, active in rows]
    await shards.mappings.load([(LIKES, edge) for edge in edges])
    places = {(edge.sequence, edge.to_id): edge for edge in expected(edges)}
    model = [edge for place, edge in places.items() if after is None or place < after]
    if ascending:
        above = [edge for place, edge in places.items() if after is None or place > after]
        model = above[::-1]
    request = PageRequest(key, limit, Position(*after) if after else None, ascending)
    assert await shards.mappings.pages([request]) == [model[:limit]]


async def test_walking_a_list_page_by_page_shows_every_row_once(
    deployment: Deployment, shards: SqlShards
) -> None:
    key = ListKey(PINS, fresh_id(Kind.BOARD, deployment.shard(3)))
    edges = [
        (PINS, Edge(key.from_id, n, 10**37 + n * SEQUENCE_STEP, 1, n % 7 != 0))
        for n in random.sample(range(1, 2001), 2000)
    ]
    await shards.mappings.load(edges)
    walked: list[Edge] = []
    after = None
    while True:
        [page] = await shards.mappings.pages([PageRequest(key, 97, after)])
        if not page:
            break
        walked += page
        after = Position(page[-1].sequence, page[-1].to_id)
    assert walked == expected([edge for _, edge in edges])
    assert await shards.mappings.heads([key]) == {key: ListHead(len(walked), 2000)}


async def test_sequences_of_38_digits_are_exact(deployment: Deployment, shards: SqlShards) -> None:
    key = ListKey(PINS, fresh_id(Kind.BOARD, deployment.shard(2)))
    sequences = [MAX_SEQUENCE, MAX_SEQUENCE - 1, 17 * 10**36 + 1, 17 * 10**36, 1, 0]
    edges = [Edge(key.from_id, n, sequence, 1) for n, sequence in enumerate(sequences, 1)]
    await shards.mappings.apply([(PINS, edge) for edge in reversed(edges)])
    assert await read_list(shards, key) == edges
    for n, edge in enumerate(edges):
        position = Position(edge.sequence, edge.to_id)
        assert await shards.mappings.pages([PageRequest(key, 9, position)]) == [edges[n + 1 :]]
        up = PageRequest(key, 9, position, ascending=True)
        assert await shards.mappings.pages([up]) == [edges[:n][::-1]]
    far = [Position(10**60, 2**70), Position(-1, 0)]
    pages = await shards.mappings.pages([PageRequest(key, 9, position) for position in far])
    assert pages == [edges, []]
    up = [PageRequest(key, 9, position, ascending=True) for position in far]
    assert await shards.mappings.pages(up) == [[], edges[::-1]]
    with pytest.raises(ValueError, match="38 digits"):
        await shards.mappings.apply([(PINS, Edge(key.from_id, 9, 10**38, 1))])


@pytest.mark.parametrize("active", [True, False])
async def test_a_sequence_that_another_row_has_is_a_conflict(
    deployment: Deployment, shards: SqlShards, active: bool
) -> None:
    shard = deployment.shard(4)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    first, second = Edge(key.from_id, 1, 5, 1, active), Edge(key.from_id, 2, 5, 1)
    await shards.mappings.apply([(PINS, first)])
    head = await shards.mappings.heads([key])
    for write in (
        shards.mappings.apply([(PINS, second)]),
        shards.mappings.load([(PINS, second._replace(to_id=3, sequence=6)), (PINS, second)]),
        shards.objects.transact(shard, lambda tx: tx.put_edge(PINS, second)),
    ):
        with pytest.raises(StoreConflict):
            await write
    await shards.mappings.apply([(PINS, second._replace(sequence=4))])
    with pytest.raises(StoreConflict):
        await shards.mappings.apply([(PINS, second._replace(version=2))])
    assert await shards.mappings.edges([EdgeKey(*key, n) for n in (1, 2, 3)]) == {
        EdgeKey(*key, 1): first,
        EdgeKey(*key, 2): second._replace(sequence=4),
    }
    assert await shards.mappings.heads([key]) == {key: ListHead(head[key].size + 1, 2)}


async def test_rows_of_an_unordered_mapping_may_share_a_sequence(
    deployment: Deployment, shards: SqlShards
) -> None:
    key = ListKey(LIKES, fresh_id(Kind.USER, deployment.shard(4)))
    edges = [Edge(key.from_id, n, 5, 1) for n in range(1, 6)]
    await shards.mappings.apply([(LIKES, edge) for edge in edges])
    assert await read_list(shards, key) == edges[::-1]
    page = PageRequest(key, 2, Position(5, 4))
    assert await shards.mappings.pages([page]) == [[edges[2], edges[1]]]


async def test_a_list_nobody_touched_has_no_rows_and_head_zero(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(6)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    elsewhere = ListKey(PINS, fresh_id(Kind.BOARD, 7))  # a shard that is not open
    assert await shards.mappings.heads([key, elsewhere]) == dict.fromkeys(
        [key, elsewhere], ListHead(0, 0)
    )
    requests = [PageRequest(key, 5), PageRequest(elsewhere, 5)]
    assert await shards.mappings.pages(requests) == [[], []]
    assert await shards.mappings.edges([EdgeKey(*key, 1), EdgeKey(*elsewhere, 1)]) == {}

    async def look(tx: ShardTx) -> list[object]:
        return [await tx.edge(EdgeKey(*key, 1)), await tx.top(key), await tx.head(key)]

    assert await shards.objects.transact(shard, look) == [None, None, ListHead(0, 0)]
    assert await shards.mappings.heads([key]) == {key: ListHead(0, 0)}


async def test_many_lists_on_24_shards_cost_one_round_trip_a_server(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    keys = [
        ListKey(mapping, fresh_id(Kind.USER, deployment.shard(n)))
        for n in range(24)
        for mapping in (PINS, LIKES)
    ]
    edges = [(key.mapping, Edge(key.from_id, n, n, n)) for key in keys for n in range(1, 31)]
    await shards.mappings.load(edges)
    every = [EdgeKey(m, e.from_id, e.to_id) for m, e in edges]
    trips.clear()
    for some in (keys[:5], keys):
        pages = await shards.mappings.pages([PageRequest(key, 7) for key in some])
        assert [[e.to_id for e in page] for page in pages] == [list(range(30, 23, -1))] * len(some)
        assert set(trips.by_server().values()) == {1}
        trips.clear()
        assert await shards.mappings.heads(some) == dict.fromkeys(some, ListHead(30, 30))
        assert set(trips.by_server().values()) == {1}
        trips.clear()
    found = await shards.mappings.edges(every)
    assert found == {key: edge for key, (_, edge) in zip(every, edges, strict=True)}
    assert set(trips.by_server().values()) == {1}
    await shards.close()


async def test_loading_gives_what_applying_gives(deployment: Deployment, shards: SqlShards) -> None:
    loaded, applied = (fresh_id(Kind.USER, deployment.shard(11)) for _ in range(2))
    versions = [(n, random.randrange(10**38), v) for v in (1, 3, 2) for n in range(1, 2100)]

    def edges(from_id: int) -> list[tuple[Mapping, Edge]]:
        return [(LIKES, Edge(from_id, n, s, v, v * n % 5 != 0)) for n, s, v in versions]

    await shards.mappings.load(edges(loaded))
    for at in range(0, len(versions), 1500):
        await shards.mappings.apply(edges(applied)[at : at + 1500])
    one = await read_list(shards, ListKey(LIKES, loaded))
    other = await read_list(shards, ListKey(LIKES, applied))
    assert [e._replace(from_id=0) for e in one] == [e._replace(from_id=0) for e in other]
    assert one == expected([edge for _, edge in edges(loaded)])

"""Moves within cached windows, over the embedded Valkey and a real Redis."""

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st

from datasources.mappings import Edge, ListHead, ListKey, ListMove, PageRequest
from datasources.protocols import Lease, Window
from tests.contract.test_mapping_cache import MODEL, Kit, first, fresh, kit, leased, rows, url
from tests.generated import given

__all__ = ["kit", "url"]
pytestmark = pytest.mark.anyio
KEPT = 5


async def fill(
    kit: Kit, key: ListKey, edges: Sequence[Edge], version: int, *, complete: bool = True
) -> None:
    [lease] = await kit.here.pages(first(key))
    await kit.here.fill_pages([(leased(lease), Window(edges, complete, version))])
    head = (await kit.here.heads([key]))[key]
    await kit.here.fill_heads([(leased(head), ListHead(len(edges), version))])


def move(key: ListKey, to_id: int, old: int, new: int, version: int) -> ListMove:
    return ListMove(key, to_id, old, new, version)


def pinned(key: ListKey, *places: tuple[int, int], era: int = 0) -> list[Edge]:
    """Edges of (id, sequence), in order."""
    edges = [Edge(key.from_id, to_id, sequence, 0, era=era) for to_id, sequence in places]
    return sorted(edges, key=lambda edge: -edge.sequence)


async def test_a_move_shows_at_once_in_the_page_and_in_the_version(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, pinned(key, (1, 30), (2, 20), (3, 10), era=4), 7)
    await kit.there.move([move(key, 3, 10, 25, 8)])
    assert await kit.here.pages(first(key)) == [pinned(key, (1, 30), (3, 25), (2, 20), era=4)]
    assert await kit.here.heads([key]) == {key: ListHead(3, 8)}
    await kit.here.move([move(key, 1, 30, 5, 9), move(key, 2, 20, 40, 10)])
    assert await kit.there.pages(first(key)) == [pinned(key, (2, 40), (3, 25), (1, 5), era=4)]
    assert await kit.there.heads([key]) == {key: ListHead(3, 10)}


async def test_sequences_of_38_digits_move_exactly(kit: Kit) -> None:
    (key,) = fresh()
    high = 10**38 - 1
    await fill(kit, key, pinned(key, (1, high), (2, high - 2)), 1)
    await kit.here.move([move(key, 1, high, high - 3, 2)])
    assert await kit.here.pages(first(key)) == [pinned(key, (2, high - 2), (1, high - 3))]


@pytest.mark.parametrize("seen", [5, 6, 9], ids=["missed one", "missed it", "missed many"])
async def test_an_entry_that_lacks_an_earlier_change_is_dropped(kit: Kit, seen: int) -> None:
    """The entry has the change of version 10 at most, and was read at an earlier version."""
    (key,) = fresh()
    await fill(kit, key, rows(key, 10, 20), seen)
    version = {5: 7, 6: 8, 9: 11}[seen]
    await kit.here.move([move(key, 11, 10, 30, version)])
    assert isinstance((await kit.here.pages(first(key)))[0], Lease)
    assert isinstance((await kit.here.heads([key]))[key], Lease)


async def test_a_move_that_comes_late_or_twice_changes_nothing(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, pinned(key, (1, 30), (2, 20)), 5)
    late = [move(key, 1, 10, 30, 5), move(key, 2, 5, 40, 4)]
    await kit.here.move([*late, move(key, 2, 20, 40, 6)])
    await kit.here.move([*late, move(key, 2, 20, 40, 6)])
    assert await kit.here.pages(first(key)) == [pinned(key, (2, 40), (1, 30))]
    assert await kit.here.heads([key]) == {key: ListHead(2, 6)}


async def test_a_reader_overtaken_by_a_move_fills_nothing(kit: Kit) -> None:
    (key,) = fresh()
    lease = leased((await kit.here.pages(first(key)))[0])
    head_lease = leased((await kit.here.heads([key]))[key])
    await kit.there.move([move(key, 2, 1, 3, 5)])
    await kit.here.fill_pages([(lease, Window(rows(key, 1), True, 4))])
    await kit.here.fill_heads([(head_lease, ListHead(1, 4))])
    assert isinstance((await kit.there.pages(first(key)))[0], Lease)
    assert isinstance((await kit.there.heads([key]))[key], Lease)


async def test_a_window_of_unknown_version_is_dropped(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 10, 20), 0)
    await kit.here.move([move(key, 11, 10, 30, 2)])
    assert isinstance((await kit.here.pages(first(key)))[0], Lease)


async def test_a_move_of_what_the_window_should_have_and_has_not_drops_it(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 10, 20), 1)
    await kit.here.move([move(key, 99, 15, 30, 2)])
    assert isinstance((await kit.here.pages(first(key)))[0], Lease)


async def test_a_window_that_pins_leave_is_dropped_when_it_holds_little(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 50, 40, 30, 20, 10), 1, complete=False)
    for version, gone in ((2, 50), (3, 40)):
        await kit.here.move([move(key, gone + 1, gone, version, version)])
    assert await kit.here.pages(first(key, 3)) == [rows(key, 30, 20, 10)]
    await kit.here.move([move(key, 31, 30, 4, 4)])
    assert isinstance((await kit.here.pages(first(key, 2)))[0], Lease)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "fill", "commit", "commit", "tell", "forget"]),
        st.integers(0, 11),
        st.integers(0, 11),
    ),
    min_size=20,
    max_size=80,
)


@MODEL
@given(steps=STEPS, count=st.integers(3, 12))
async def test_no_order_of_readers_and_moves_shows_a_list_that_never_was(
    kit: Kit, steps: list[tuple[str, int, int]], count: int
) -> None:
    """Writers commit moves and inform the cache in any order; readers fill it at any time. The rows
    that it returns are a state of the list, not older than the newest acknowledged state."""
    (key,) = fresh()
    states = [[(id, 1000 * id) for id in range(count, 0, -1)]]  # by version, from the top down
    untold: list[ListMove] = []
    told, held = 0, dict[int, tuple[Lease, int]]()
    for step, a, b in steps:
        cache = kit.here if a % 2 else kit.there
        if step == "ask":
            [page] = await cache.pages([PageRequest(key, 1 + a % KEPT)])
            if isinstance(page, Lease):
                held[b % 2] = page, len(states) - 1
            elif page is not None:
                shown = [(edge.to_id, edge.sequence) for edge in page]
                assert shown in [state[: 1 + a % KEPT] for state in states[told:]]
        elif step == "fill" and b % 2 in held:
            lease, version = held.pop(b % 2)
            edges = pinned(key, *states[version])
            window = Window(edges[:KEPT], len(edges) < KEPT, version)
            await cache.fill_pages([(lease, window)])
        elif step == "commit":
            state = list(states[-1])
            id, old = state.pop(a % count)
            at = b % count
            high = state[at - 1][1] if at else state[0][1] + 2000
            new = (high + (state[at][1] if at < len(state) else 0)) // 2
            if new in (old, *(sequence for _, sequence in state)):
                continue
            state.append((id, new))
            states.append(sorted(state, key=lambda place: -place[1]))
            untold.append(move(key, id, old, new, len(states) - 1))
        elif step == "tell" and untold:
            await cache.move([untold.pop(a % len(untold))])
            told = min((it.version for it in untold), default=len(states)) - 1
        elif step == "forget":
            await cache.drop([key])

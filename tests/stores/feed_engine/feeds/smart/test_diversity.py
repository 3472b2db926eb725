"""The places of one owner's or board's pins in a chunk."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import strategies as st

from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.smart.diversity import IN_A_ROW, MOST, WINDOW, Groups, is_diverse
from feed_engine.feeds.smart.generator import Candidate, generate
from tests.feeds import START, Feeding, feeding, pins_of, valkey
from tests.generated import given

__all__ = ["feeding", "valkey"]

RATES = {Source.FOLLOWED: 5, Source.INTEREST: 3, Source.RELATED: 2, Source.POPULAR: 0}


def groups(c: Candidate) -> Groups:
    return (c.cause_id, 1000 + c.board_id)


def candidates(source: Source, owners: list[tuple[int, int]]) -> list[Candidate]:
    """A candidate for each (owner, board), best first."""
    return [
        Candidate(source * 1000 + n, -float(n), source, Reason.RELATED, owner, board)
        for n, (owner, board) in enumerate(owners)
    ]


def chunk_of(
    pools: dict[Source, list[Candidate]], size: int, rare: set[int] | None = None
) -> list[Candidate]:
    found = generate(pools, rates=RATES, floor=-1e9, groups_of=groups, rare=rare or set())
    return list(islice(found, size))


owners = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 12)), max_size=60)
pools = st.fixed_dictionaries(
    {source: owners.map(lambda some, source=source: candidates(source, some)) for source in Source}
)


def test_one_owner_has_four_places_in_a_page_while_other_pins_are_there() -> None:
    crowd = candidates(Source.FOLLOWED, [(1, n % 50) for n in range(400)])
    others = candidates(Source.INTEREST, [(2 + n, 100 + n) for n in range(15)])
    popular = candidates(Source.POPULAR, [(20 + n, 200 + n) for n in range(15)])
    pools = {Source.FOLLOWED: crowd, Source.INTEREST: others, Source.POPULAR: popular}
    chunk = chunk_of(pools, 25)
    assert Counter(c.cause_id for c in chunk)[1] == MOST
    assert [c for c in chunk if c.cause_id == 1] == crowd[:MOST]


def test_related_pins_of_one_board_have_four_places_in_a_page() -> None:
    related = candidates(Source.RELATED, [(n, 1) for n in range(40)])
    others = candidates(Source.FOLLOWED, [(100 + n, 100 + n) for n in range(40)])
    chunk = chunk_of({Source.RELATED: related, Source.FOLLOWED: others}, 25)
    assert Counter(c.board_id for c in chunk)[1] == MOST


def test_a_page_is_filled_if_one_owner_has_all_pins() -> None:
    crowd = candidates(Source.FOLLOWED, [(1, 1)] * 400)
    assert chunk_of({Source.FOLLOWED: crowd}, 25) == crowd[:25]


def test_two_owners_with_all_pins_alternate() -> None:
    pools = {Source.FOLLOWED: candidates(Source.FOLLOWED, [(1, 1)] * 50 + [(2, 2)] * 50)}
    runs = [c.cause_id for c in chunk_of(pools, 24)]
    assert not any(len(set(runs[n : n + 3])) == 1 for n in range(22))


@given(pools, st.integers(0, 60))
def test_the_limits_hold_while_a_pin_that_keeps_them_is_left(
    pools: dict[Source, list[Candidate]], size: int
) -> None:
    chunk = chunk_of(pools, size)
    there = {c for some in pools.values() for c in some}
    assert len(chunk) == len(set(chunk)) == min(size, len(there))
    for end in range(1, len(chunk) + 1):
        if is_diverse([groups(c) for c in chunk[:end]]):
            continue
        before = chunk[: end - 1]
        if not is_diverse([groups(c) for c in before]):
            break  # the limits gave way earlier
        left = there - set(before)
        assert not any(is_diverse([groups(c) for c in [*before, it]]) for it in left)


@given(owners)
def test_the_best_pin_that_keeps_the_limits_comes_next(owners: list[tuple[int, int]]) -> None:
    left = candidates(Source.FOLLOWED, owners)
    placed = list[Groups]()
    for found in chunk_of({Source.FOLLOWED: left}, 60):
        best = next((c for c in left if is_diverse([*placed, groups(c)])), None)
        if best is None:
            break  # the limits give way
        assert found == best
        left.remove(best)
        placed.append(groups(best))


@given(pools, st.integers(0, 60))
def test_is_diverse_says_what_the_limits_are(
    pools: dict[Source, list[Candidate]], size: int
) -> None:
    of = [groups(c) for c in chunk_of(pools, size)]
    found = all(
        max(Counter(id for some in of[n : n + WINDOW] for id in some).values(), default=0) <= MOST
        for n in range(len(of))
    ) and not any(
        set.intersection(*(set(some) for some in of[n : n + IN_A_ROW + 1]))
        for n in range(len(of) - IN_A_ROW)
    )
    assert is_diverse(of) is found


@given(pools, st.integers(0, 40))
def test_a_larger_chunk_begins_with_the_smaller_one(
    pools: dict[Source, list[Candidate]], size: int
) -> None:
    assert chunk_of(pools, size + 9)[:size] == chunk_of(pools, size)[:size]


@given(pools, st.integers(0, 60))
def test_rare_groups_have_one_pin_in_a_window_whatever_is_left(
    pools: dict[Source, list[Candidate]], size: int
) -> None:
    chunk = chunk_of(pools, size, rare={1, 2})
    for n in range(len(chunk)):
        counts = Counter(c.cause_id for c in chunk[n : n + WINDOW])
        assert counts[1] <= 1
        assert counts[2] <= 1


@pytest.mark.anyio
async def test_a_user_who_saves_very_much_has_four_places_and_loses_no_pin(
    feeding: Feeding,
) -> None:
    """The others' pins are older than all pins of the crowd: they are read behind these."""
    feeding.settings = type(feeding.settings)(chunk=25, generator_seconds=60)
    viewer, crowd = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, crowd.id)
    for _ in range(8):
        owner = await feeding.user()
        await feeding.follow(viewer, owner.id)
        await feeding.pins(await feeding.board(owner), 3)
    board = await feeding.board(crowd)
    many = {pin.id for pin in await feeding.pins(board, 130, start=START + 10_000_000)}
    await feeding.drain()
    await feeding.empty_popular()
    page = await feeding.home(viewer, first=25)
    assert len(page.items) == 25
    assert sum(pin in many for pin in pins_of(page)) == MOST
    seen = set(pins_of(page))
    assert len(seen) == 25
    for _ in range(9):
        await feeding.drain()
        page = await feeding.home(viewer, first=25)
        fresh = [item.pin.id for item in page.items if item.reason is not Reason.SHOWN_BEFORE]
        assert seen.isdisjoint(fresh)
        seen.update(fresh)
    assert many < seen

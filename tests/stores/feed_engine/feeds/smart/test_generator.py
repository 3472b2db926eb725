"""The content generator: a pure function from candidates to a chunk."""

from collections import Counter
from collections.abc import Collection
from itertools import islice

from hypothesis import strategies as st

from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.smart import generator
from feed_engine.feeds.smart.generator import Candidate
from tests.generated import given

RATES = {Source.FOLLOWED: 5, Source.INTEREST: 3, Source.RELATED: 2, Source.POPULAR: 0}
LOWEST = -1e9


def generate(
    pools: dict[Source, list[Candidate]], *, size: int, floor: float, excluded: Collection[int] = ()
) -> list[Candidate]:
    found = generator.generate(pools, rates=RATES, floor=floor, excluded=excluded)
    return list(islice(found, size))


def pool(source: Source, *pins: int, score: float = 0.0) -> list[Candidate]:
    return [
        Candidate(pin, score - position, source, Reason.RELATED, 0)
        for position, pin in enumerate(pins)
    ]


def full(count: int = 100) -> dict[Source, list[Candidate]]:
    return {source: pool(source, *range(source * 1000, source * 1000 + count)) for source in Source}


def test_sources_are_mixed_at_their_rates() -> None:
    chunk = generate(full(), size=40, floor=LOWEST)
    assert Counter(c.source for c in chunk) == {
        Source.FOLLOWED: 20,
        Source.INTEREST: 12,
        Source.RELATED: 8,
    }


def test_no_source_comes_in_one_block() -> None:
    chunk = generate(full(), size=40, floor=LOWEST)
    for start in range(0, 40, 10):
        assert len({c.source for c in chunk[start : start + 10]}) == 3


def test_the_best_of_a_source_comes_first() -> None:
    chunk = generate(full(), size=40, floor=LOWEST)
    for source in Source:
        scores = [c.score for c in chunk if c.source is source]
        assert scores == sorted(scores, reverse=True)


def test_an_empty_source_leaves_its_turns_to_the_others() -> None:
    pools = {**full(), Source.FOLLOWED: []}
    chunk = generate(pools, size=20, floor=LOWEST)
    assert Counter(c.source for c in chunk) == {Source.INTEREST: 12, Source.RELATED: 8}


def test_popular_pins_only_fill_what_the_others_leave() -> None:
    pools = {**full(3), Source.POPULAR: pool(Source.POPULAR, *range(50))}
    chunk = generate(pools, size=20, floor=LOWEST)
    assert [c.source for c in chunk[9:]] == [Source.POPULAR] * 11


def test_poor_pins_stay_in_their_pool_but_popular_ones_are_never_too_poor() -> None:
    pools = {
        Source.FOLLOWED: pool(Source.FOLLOWED, 1, 2, 3, score=1.0),
        Source.POPULAR: pool(Source.POPULAR, 9, score=-50.0),
    }
    chunk = generate(pools, size=10, floor=0.0)
    assert [c.pin_id for c in chunk] == [1, 2, 9]


def test_what_was_shown_is_left_out() -> None:
    chunk = generate(full(), size=10, floor=LOWEST, excluded={1000, 2000})
    assert not {1000, 2000} & {c.pin_id for c in chunk}
    assert len(chunk) == 10


pools_of_few_pins = st.fixed_dictionaries(
    {
        source: st.lists(st.integers(1, 30), max_size=12, unique=True).map(
            lambda pins, source=source: pool(source, *pins)
        )
        for source in Source
    }
)


@given(pools_of_few_pins, st.integers(0, 40), st.sets(st.integers(1, 30)))
def test_a_chunk_has_no_pin_twice_and_misses_none_that_it_has_room_for(
    pools: dict[Source, list[Candidate]], size: int, excluded: set[int]
) -> None:
    chunk = [c.pin_id for c in generate(pools, size=size, floor=-100, excluded=excluded)]
    there = {c.pin_id for some in pools.values() for c in some} - excluded
    assert len(chunk) == len(set(chunk)) == min(size, len(there))
    assert set(chunk) <= there


@given(pools_of_few_pins, st.integers(0, 40))
def test_a_larger_chunk_begins_with_the_smaller_one(
    pools: dict[Source, list[Candidate]], size: int
) -> None:
    small = generate(pools, size=size, floor=-100)
    large = generate(pools, size=size + 7, floor=-100)
    assert large[: len(small)] == small

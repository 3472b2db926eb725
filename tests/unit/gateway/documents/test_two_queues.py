"""Documents that were used once are evicted before documents that were used again."""

from collections.abc import Callable

from gateway.documents.two_queues import SHARE, TwoQueues

SIZE = 10 * SHARE
BYTES = 100 * SIZE


class Entry:
    def __init__(self, bytes: int = 1) -> None:
        self.bytes = bytes
        self.grown: Callable[[int], None] | None = None
        self.forgotten = False

    def grow(self, taken: int) -> None:
        self.bytes += taken
        if self.grown is not None:
            self.grown(taken)

    def forget(self) -> None:
        self.forgotten = True


def filled(used: int, bytes: int = 1) -> tuple[TwoQueues[Entry], list[Entry]]:
    """Returns a cache with `used` entries that were used twice, and these entries."""
    cache, entries = TwoQueues[Entry](SIZE, BYTES), []
    for n in range(used):
        entries.append(Entry(bytes))
        cache.put(f"used {n}", entries[-1])
        assert cache.get(f"used {n}") is entries[-1]
    return cache, entries


def test_entries_that_are_used_once_evict_none_that_was_used_again() -> None:
    cache, used = filled(SIZE - SIZE // SHARE, bytes=BYTES // SIZE)
    for n in range(1_000):
        cache.put(f"once {n}", Entry(bytes=n % 300))
    assert not any(entry.forgotten for entry in used)
    assert len(cache) <= SIZE


def test_entries_that_are_used_once_take_an_eighth_of_an_empty_cache() -> None:
    cache = TwoQueues[Entry](SIZE, BYTES)
    entries = [Entry() for _ in range(1_000)]
    for n, entry in enumerate(entries):
        cache.put(f"once {n}", entry)
    assert len(cache) == SIZE // SHARE
    assert cache.evictions == 1_000 - SIZE // SHARE
    assert [entry.forgotten for entry in entries].count(True) == cache.evictions
    cache = TwoQueues[Entry](SIZE, BYTES)
    for n in range(1_000):
        cache.put(f"once {n}", Entry(bytes=BYTES // SHARE // 3))
    assert len(cache) == 3


def test_the_newest_entry_is_kept_until_the_next_one() -> None:
    cache = TwoQueues[Entry](SIZE, BYTES)
    large = Entry(bytes=BYTES // 2)
    cache.put("large", large)
    assert cache.get("large") is large
    cache.put("larger", larger := Entry(bytes=BYTES // 3))
    cache.put("other", Entry())
    assert (large.forgotten, larger.forgotten) == (False, True)
    cache.put("too large", Entry(bytes=BYTES + 1))
    assert cache.get("too large") is None


def test_an_entry_that_was_evicted_after_one_use_is_kept_from_the_second_on() -> None:
    cache = TwoQueues[Entry](SIZE, BYTES)
    cache.put("twice", first := Entry())
    for n in range(SIZE // 2):
        cache.put(f"once {n}", Entry())
    assert first.forgotten
    assert cache.get("twice") is None
    cache.put("twice", second := Entry())
    for n in range(10 * SIZE):
        cache.put(f"later {n}", Entry())
    assert cache.get("twice") is second
    assert len(cache._left) == SIZE


def test_the_least_recently_used_entry_is_evicted_among_those_used_again() -> None:
    cache, (first, second, *_) = filled(SIZE)
    assert cache.get("used 0") is first
    cache.put("new", Entry())
    assert (first.forgotten, second.forgotten) == (False, True)
    assert len(cache) == SIZE


def test_an_entry_that_grows_makes_others_be_evicted() -> None:
    cache, (first, second, third) = filled(3, bytes=BYTES // 3)
    third.grow(BYTES // 3)
    assert [entry.forgotten for entry in (first, second, third)] == [True, False, False]
    assert cache.bytes == second.bytes + third.bytes
    first.grow(BYTES)
    assert cache.bytes == second.bytes + third.bytes
    cache.put("new", new := Entry(bytes=BYTES // 20))
    cache.put("newer", newer := Entry(bytes=BYTES // 20))
    newer.grow(BYTES // 20)
    assert (new.forgotten, newer.forgotten) == (True, False)


def test_a_cache_of_one_entry_has_one_entry() -> None:
    cache = TwoQueues[Entry](1, BYTES)
    for n in range(5):
        cache.put(f"{n}", Entry())
        assert cache.get(f"{n}") is not None
        assert len(cache) == 1

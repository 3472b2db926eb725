"""The garbage collector's passes are short, and still find all garbage."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread

import pytest

from gateway.execution import collector
from gateway.execution.collector import INCREMENTAL, THRESHOLDS, lasting, no_passes, short_passes

by_generations = pytest.mark.skipif(
    INCREMENTAL, reason="this Python's incremental collector has no passes of a generation"
)


class Node:
    """A node that may be part of a cycle."""

    def __init__(self) -> None:
        self.other: Node | None = None


def cycle() -> "weakref.ref[Node]":
    """Garbage, as soon as it is returned."""
    one, two = Node(), Node()
    one.other, two.other = two, one
    return weakref.ref(one)


def cycle_frozen() -> "weakref.ref[Node]":
    """Garbage that was in use at the last full pass."""
    one, two = Node(), Node()
    one.other, two.other = two, one
    gc.collect()
    return weakref.ref(one)


@pytest.fixture(autouse=True)
def none_by_itself() -> Iterator[None]:
    """Only the tests run passes."""
    gc.unfreeze()  # what the interpreter itself froze
    gc.disable()
    yield
    gc.enable()


@by_generations
def test_what_lives_long_is_left_out_of_later_passes() -> None:
    with short_passes():
        start = gc.get_freeze_count()
        kept = [Node() for _ in range(100)]
        gc.collect(1)
        assert gc.get_freeze_count() >= start + len(kept)
        assert not any(isinstance(found, Node) for found in gc.get_objects())


def test_imports_are_left_out_of_later_passes() -> None:
    passes = list[str]()

    def count(phase: str, info: dict[str, int]) -> None:
        passes.append(phase)

    gc.enable()
    gc.callbacks.append(count)
    try:
        with lasting():
            kept = [Node() for _ in range(2 * gc.get_threshold()[0])]
        assert not passes
    finally:
        gc.callbacks.remove(count)
        gc.disable()
    assert gc.get_freeze_count() >= len(kept)
    assert not any(isinstance(found, Node) for found in gc.get_objects())


@by_generations
def test_cycles_that_came_since_are_found() -> None:
    with short_passes():
        found = cycle()
        gc.collect(1)
        assert found() is None


@by_generations
def test_cycles_among_what_was_left_out_are_found_when_memory_stays_doubled() -> None:
    memory, now = 100, 0.0

    def passed(in_use: int, at: float) -> bool:
        """Whether the cycle is gone after a pass at that time."""
        nonlocal memory, now
        memory, now = in_use, at
        gc.collect()
        return found() is None

    with short_passes(in_use=lambda: memory, clock=lambda: now):
        found = cycle_frozen()
        assert not passed(200, 0.0)
        assert not passed(201, 1.0)
        assert not passed(200, 31.0)  # it was so for a moment only
        assert not passed(201, 32.0)
        assert not passed(300, 61.0)
        assert not passed(300, 62.0)  # the next one looks at all
        assert passed(300, 63.0)
        found = cycle_frozen()
        for at in (70.0, 110.0, 150.0):
            assert not passed(600, at)  # twice what it was then, not more


@by_generations
def test_the_memory_in_use_is_looked_at_once_a_second() -> None:
    looks, now = 0, 0.0

    def in_use() -> int:
        nonlocal looks
        looks += 1
        return 100

    with short_passes(in_use=in_use, clock=lambda: now):
        looks = 0
        for at in (0.0, 0.1, 0.9, 1.0, 1.5):
            now = at
            gc.collect(1)
    assert looks == 2


def test_an_incremental_collector_has_its_objects_frozen_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collector, "INCREMENTAL", True)
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    kept = [Node() for _ in range(100)]
    with short_passes():
        assert not any(found in kept for found in gc.get_objects() if isinstance(found, Node))
        frozen = gc.get_freeze_count()
        found = cycle()
        collector.set_aside()
        gc.collect()
        assert gc.get_freeze_count() == frozen
        assert found() is None
        assert (gc.get_threshold(), gc.callbacks) == (thresholds, callbacks)
    assert not gc.get_freeze_count()


@by_generations
def test_the_collector_is_left_as_it_was() -> None:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    with short_passes():
        assert gc.get_threshold() != thresholds
    assert gc.get_threshold() == thresholds
    assert gc.callbacks == callbacks
    assert not gc.get_freeze_count()


def test_blocks_without_passes_may_overlap() -> None:
    gc.enable()
    one, other = no_passes(), no_passes(collect=True)
    with one:
        other.__enter__()
    assert not gc.isenabled()  # the other block, in a thread of its own, goes on
    found = cycle()
    other.__exit__(None, None, None)
    assert gc.isenabled()
    assert found() is None


def test_a_block_that_raises_leaves_the_collector_as_it_was() -> None:
    gc.enable()
    with suppress(LookupError), no_passes(collect=True):
        found = cycle()
        raise LookupError
    assert gc.isenabled()
    assert found() is None


@by_generations
def test_a_block_in_a_thread_refers_to_no_tuple_that_another_thread_fills(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CPython raises SystemError in `tuple(generator)` if anything else refers to the tuple. The
    thread is held where it would have a list of all objects."""
    gc.enable()
    listed, filled = Event(), Event()
    listing = gc.get_objects

    def held(generation: int | None = None) -> list[object]:
        objects: list[object] = listing(generation=generation)
        listed.set()
        filled.wait(300)
        return objects

    def read() -> None:
        with no_passes(collect=True):
            pass

    def items() -> Iterator[int]:
        yield from range(100)
        thread.start()
        while thread.is_alive() and not listed.wait(0.001):
            pass
        yield from range(100)

    monkeypatch.setattr(gc, "get_objects", held)
    thread = Thread(target=read)
    with short_passes():
        try:
            assert len(tuple(item for item in items())) == 200
        finally:
            filled.set()
            thread.join()


@by_generations
def test_objects_that_blocks_leave_are_not_collected_in_one_long_pass() -> None:
    gc.enable()
    with short_passes():
        gc.set_threshold(0)  # no pass but the blocks' own
        kept = []
        for _ in range(40):
            with no_passes(collect=True):
                kept.append([Node() for _ in range(1_000)])
        assert len(kept) == 40
        assert len(gc.get_objects(generation=1)) < 2 * THRESHOLDS[0]

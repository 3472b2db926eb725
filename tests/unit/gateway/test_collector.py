"""The garbage collector's passes are short, and still find what is to be found."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from gateway.serving.collector import short_passes


class Node:
    """One that may be part of a cycle."""

    def __init__(self) -> None:
        self.other: Node | None = None


def cycle() -> "weakref.ref[Node]":
    """Garbage, from the moment that it is returned."""
    one, two = Node(), Node()
    one.other, two.other = two, one
    return weakref.ref(one)


@pytest.fixture(autouse=True)
def none_by_itself() -> Iterator[None]:
    """Passes are made by the tests alone."""
    was = gc.get_freeze_count()
    assert not was
    gc.disable()
    yield
    gc.enable()


def test_what_lives_long_is_left_out_of_later_passes() -> None:
    with short_passes():
        start = gc.get_freeze_count()
        kept = [Node() for _ in range(100)]
        gc.collect()
        assert gc.get_freeze_count() >= start + len(kept)
        assert not any(isinstance(found, Node) for found in gc.get_objects())


def test_cycles_that_came_since_are_found() -> None:
    with short_passes():
        found = cycle()
        gc.collect()
        assert found() is None


def test_cycles_among_what_was_left_out_are_found_when_that_has_doubled() -> None:
    with short_passes(least=0):
        one, two = Node(), Node()
        one.other, two.other = two, one
        found = weakref.ref(one)
        gc.collect()  # they are frozen
        del one, two
        gc.collect()
        assert found() is not None
        kept = [Node() for _ in range(2 * gc.get_freeze_count())]
        gc.collect()  # these are frozen too: there are more than twice as many
        gc.collect()
        assert found() is None
        assert gc.get_freeze_count() >= len(kept)


def test_what_was_let_go_of_meanwhile_does_not_count() -> None:
    with short_passes(least=0):
        start = gc.get_freeze_count()
        for _ in range(5):
            passing = [Node() for _ in range(start // 2)]
            gc.collect()
            del passing
            assert gc.get_freeze_count() > start / 2  # the others were not taken back for these


def test_the_collector_is_left_as_it_was() -> None:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    with short_passes():
        assert gc.get_threshold()[2] < thresholds[2]
    assert gc.get_threshold() == thresholds
    assert gc.callbacks == callbacks
    assert not gc.get_freeze_count()

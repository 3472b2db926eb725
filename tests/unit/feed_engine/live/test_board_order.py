"""The order of a board's events, whatever the order in which they arrive."""

import random

from feed_engine.live.board_order import MOST_HELD, BoardOrder, Placed
from feed_engine.live.events import BoardChange, BoardEvent
from feed_engine.live.shared import Shared


def change(before: int, version: int) -> Placed:
    event = BoardEvent(
        board_id=1, change=BoardChange.REORDERED, pin_id=version, before=before, version=version
    )
    return Placed(event, f"run:{version}-0", Shared())


def edit(pin_id: int) -> Placed:
    return Placed(
        BoardEvent(board_id=1, change=BoardChange.EDITED, pin_id=pin_id), "run:1-0", Shared()
    )


def versions(ready: list[Placed]) -> list[int]:
    return [placed.event.version for placed in ready]


def test_events_in_any_order_are_delivered_once_in_the_order_of_their_versions() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        bounds = sorted(rng.sample(range(1, 90), 20))
        events = [change(a, b) for a, b in zip([0, *bounds], bounds, strict=False)]
        arriving = [*events, *rng.sample(events, 5)]
        rng.shuffle(arriving)
        order, delivered = BoardOrder(0), list[int]()
        for event in arriving:
            delivered += versions(order.take(event))
        assert delivered == bounds
        assert not order.waits


def test_an_event_waits_for_the_one_before_it() -> None:
    order = BoardOrder(4)
    assert order.take(change(5, 6)) == []
    assert order.waits
    assert versions(order.take(change(4, 5))) == [5, 6]
    assert not order.waits


def test_what_is_older_than_the_stream_is_dropped() -> None:
    order = BoardOrder(4)
    assert order.take(change(3, 4)) == []
    assert not order.waits


def test_an_edit_has_no_place_in_the_order_and_is_delivered_at_once() -> None:
    order = BoardOrder(4)
    order.take(change(5, 6))
    assert [placed.event.pin_id for placed in order.take(edit(9))] == [9]


def test_a_reader_that_reads_again_gets_what_follows() -> None:
    order = BoardOrder(4)
    for event in (change(6, 7), change(7, 8), change(9, 10)):
        assert order.take(event) == []
    assert versions(order.skip_to(7)) == [8]
    assert order.waits
    assert versions(order.skip_to(12)) == []
    assert not order.waits


def test_a_predecessor_that_never_comes_holds_a_bounded_number_of_events() -> None:
    order = BoardOrder(0)
    for version in range(2, 2 * MOST_HELD):
        order.take(change(version, version + 1))
    assert len(order._held) == MOST_HELD

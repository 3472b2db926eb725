"""Two writes to one board: the first stops at each of its seams while the second runs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from datasources.errors import BadInput, NotFound
from datasources.mappings import ListHead, ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board
from feed_engine import writes
from feed_engine.outbox.completion import settle
from tests.pauses import Pause
from tests.people import People
from tests.scale import scaled

ON_BOARD = Mapping.BOARD_HAS_PINS
PINS = 6
Halted = Callable[["asyncio.Task[Any]"], Awaitable[None]]
"""Waits until a write has ended, or waits for a lock."""


class Scene(NamedTuple):
    """A user's two boards and the pins of the first, from the top down."""

    me: int
    board: Board
    other: Board
    pins: list[int]


class Write(NamedTuple):
    """A write, and its effect on a board's pins. It is impossible if a pin that it names is
    gone."""

    do: Callable[[Stores, Scene], Awaitable[Any]]
    model: Callable[[list[int], Scene], list[int]]


def _drag(moved: int, before: int) -> Write:
    """A drag of one pin directly below another, by their numbers."""

    async def do(stores: Stores, scene: Scene) -> Any:
        ids = scene.pins
        key = f"{scene.board.id} {moved}"
        return await writes.reorder_pin(
            stores, scene.me, scene.board.id, ids[moved], ids[before], key=key
        )

    def model(pins: list[int], scene: Scene) -> list[int]:
        moving, anchor = scene.pins[moved], scene.pins[before]
        if moving not in pins or anchor not in pins:
            return pins
        left = [pin for pin in pins if pin != moving]
        at = left.index(anchor) + 1
        return [*left[:at], moving, *left[at:]]

    return Write(do, model)


def _without(pins: list[int], scene: Scene) -> list[int]:
    return [pin for pin in pins if pin != scene.pins[2]]


SAVED = 0
"""The number of a pin that the write saves."""
FIRST = _drag(4, 2)
SECOND = {
    "a drag to the same place": _drag(5, 2),
    "a drag of the anchor": _drag(2, 0),
    "a drag of the pin": _drag(4, 0),
    "a save": Write(
        lambda stores, scene: writes.create_pin(
            stores, scene.me, writes.NewPin(board_id=scene.board.id)
        ),
        lambda pins, scene: [SAVED, *pins],
    ),
    "the anchor's end": Write(
        lambda stores, scene: writes.delete_pin(stores, scene.me, scene.pins[2]), _without
    ),
    "the anchor's move": Write(
        lambda stores, scene: writes.move_pin(stores, scene.me, scene.pins[2], scene.other.id),
        _without,
    ),
}


async def interleave(people: People, second: Write, halted: Halted) -> int:
    """Run a drag and another write. Raises AssertionError if the end state is not the state after
    the two writes in one of the two orders. Returns the number of seams. `make test` tries every
    second seam; which ones depends on the second write."""
    first, user = FIRST, await people.user()
    other = await people.board(user)
    step = scaled(2, 1)
    for seam in range(list(SECOND.values()).index(second) % step, 100, step):
        board = await people.board(user)
        pins = [(await people.pin(board)).id for _ in range(PINS)][::-1]
        scene = Scene(user.id, board, other, pins)
        pause = Pause(seam, within=True)
        one = asyncio.ensure_future(_tried(first.do(pause.of(people.stores), scene)))
        reached = await pause.reached(one)
        two = asyncio.ensure_future(_tried(second.do(people.stores, scene)))
        await halted(two)
        pause.go()
        done = await asyncio.gather(one, two)
        await settle()
        found = [pin if pin in pins else SAVED for pin in await people.list(ON_BOARD, board.id)]
        assert found in (
            second.model(first.model(pins, scene), scene),
            first.model(second.model(pins, scene), scene),
        )
        key = ListKey(ON_BOARD, board.id)
        heads = await people.stores.shards.mappings.heads([key])
        assert heads[key] == ListHead(len(found), PINS + sum(done))
        if not reached:
            return seam
    raise AssertionError("it has no end")


async def _tried(write: Awaitable[Any]) -> bool:
    try:
        await write
    except (BadInput, NotFound):  # a pin that it names is gone
        return False
    return True

"""Deliberate faults of the home feed's visits; the schedules of visits must find each of them."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.protocols import Cell, Sides, Stores, WideColumnStore
from feed_engine.feeds.rows import POOLS
from feed_engine.feeds.smart import cuts, handover, interests, materialized, pools, service
from feed_engine.feeds.smart.candidates import Candidates
from feed_engine.feeds.smart.pages import Saved
from feed_engine.feeds.wide import read_row
from tests.following.faults import Fault


def shown_pins_are_read_before_the_shard(patch: pytest.MonkeyPatch) -> None:
    """The shown pins are looked up together with the pools, at the same time as the shard is read:
    a visit that is saved in between is in neither answer."""
    read = Candidates.read

    async def read_and_look_up(self: Any) -> None:
        await read(self)
        await look_up(self, [c for some in self._rows.found.values() for c in some])

    look_up = Candidates._look_up

    async def nothing(self: Any, candidates: Any) -> None:
        self._asked.update(id for c in candidates for id in (c.pin_id, self._root(c)))

    patch.setattr(Candidates, "read", read_and_look_up)
    patch.setattr(Candidates, "_look_up", nothing)


def gaps_are_not_read_again(patch: pytest.MonkeyPatch) -> None:
    """A visit that was saved between the reads of the feed and of the shard is missed."""
    patch.setattr(Saved, "_lacks", lambda *_: False)


def one_side_is_enough(patch: pytest.MonkeyPatch) -> None:
    """A visit counts as saved when the primary has it."""
    save = materialized.save

    async def save_one(sides: Sides, *rest: Any) -> None:
        await save(Sides(sides.primary, sides.primary), *rest)

    patch.setattr(handover.materialized, "save", save_one)


def visits_are_chosen_apart(patch: pytest.MonkeyPatch) -> None:
    """A chunk is chosen without the visits on the shard."""
    choose = Candidates.choose

    async def alone(self: Any, size: int, taken: Sequence[int]) -> Any:
        return await choose(self, size, ())

    patch.setattr(service.Candidates, "choose", alone)


def dead_cells_bury_live_pins(patch: pytest.MonkeyPatch) -> None:
    """Cells of pins that nobody can see stay in pools."""

    async def stay(stores: Stores, store: WideColumnStore, row: bytes) -> list[Cell]:
        return await read_row(store, POOLS, row)

    patch.setattr(pools, "remove_dead", stay)


def cuts_leave_no_mark(patch: pytest.MonkeyPatch) -> None:
    """A pool that was cut is not filled again."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(cuts, "mark_cut", nothing)


def fillings_stay_below_the_markers(patch: pytest.MonkeyPatch) -> None:
    """A filling of an interest's pool does not look whether its cells can be seen."""
    fill = interests.fill

    async def lowest(
        store: WideColumnStore, row: bytes, cells: Mapping[bytes, bytes], at: int
    ) -> None:
        await store.put(POOLS, {row: cells}, 1)

    async def fill_low(stores: Stores, interest_id: int, limit: int, at: int) -> None:
        with pytest.MonkeyPatch.context() as low:
            low.setattr(interests, "pools", SimpleNamespace(**{**vars(pools), "bring": lowest}))
            await fill(stores, interest_id, limit, at)

    patch.setattr(interests, "fill", fill_low)


def a_follow_writes_its_cells_once(patch: pytest.MonkeyPatch) -> None:
    """Cells that an earlier removal hides stay hidden."""

    async def once(
        store: WideColumnStore, row: bytes, cells: Mapping[bytes, bytes], at: int
    ) -> None:
        await store.put(POOLS, {row: cells}, max(1, at))

    patch.setattr(pools, "bring", once)


def late_pins_are_passed(patch: pytest.MonkeyPatch) -> None:
    """No job looks for pins that came into the part of a pool that a viewer has passed."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(handover, "bring_late", nothing)


HOME_FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        dead_cells_bury_live_pins,
        cuts_leave_no_mark,
        fillings_stay_below_the_markers,
        a_follow_writes_its_cells_once,
        late_pins_are_passed,
    )
}
"""Faults of the pools, which the schedules of `tests.following.home` must find."""

VISIT_FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        shown_pins_are_read_before_the_shard,
        gaps_are_not_read_again,
        one_side_is_enough,
        visits_are_chosen_apart,
    )
}

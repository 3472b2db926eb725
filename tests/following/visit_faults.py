"""Deliberate faults of the home feed's visits; the schedules of visits must find each of them."""

from collections.abc import Sequence
from typing import Any

import pytest

from datasources.protocols import Sides
from feed_engine.feeds.smart import handover, materialized, service
from feed_engine.feeds.smart.candidates import Candidates
from feed_engine.feeds.smart.pages import Saved
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


VISIT_FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        shown_pins_are_read_before_the_shard,
        gaps_are_not_read_again,
        one_side_is_enough,
        visits_are_chosen_apart,
    )
}

"""Deliberate faults of the following feed; the schedules must find each of them."""

from collections.abc import Callable
from typing import Any

import pytest

from datasources.protocols import WideColumnStore
from feed_engine.feeds import fanout, follow_jobs, following, refill
from feed_engine.feeds.rows import FOLLOWING

Fault = Callable[[pytest.MonkeyPatch], None]


async def _trim_by_cells(store: WideColumnStore, row: bytes, pins: int) -> None:
    await store.trim(FOLLOWING, row, pins)


def trims_by_cells(patch: pytest.MonkeyPatch) -> None:
    """Trims count cells, and leave no mark."""
    for module in (fanout, follow_jobs, refill):
        patch.setattr(module, "trim_following", _trim_by_cells)


def nobody_asks(patch: pytest.MonkeyPatch) -> None:
    """A reader who finds a feed short posts no refill."""

    async def silent(*_: Any) -> bool:
        return False

    patch.setattr(following, "ask_refill", silent)


def the_dead_stay(patch: pytest.MonkeyPatch) -> None:
    """A refill leaves cells that can't be shown in the row."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(refill._Side, "_remove_dead", nothing)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault for fault in (trims_by_cells, nobody_asks, the_dead_stay)
}

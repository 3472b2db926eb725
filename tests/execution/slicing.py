"""Makes the executor work in small slices, and rest as often as it may."""

from typing import Any
from unittest.mock import patch

import pytest

from gateway.execution.levels import slices
from gateway.execution.run import execution, large, lists, starting, waiting

_SLICED = (slices, execution, large, lists, starting)
_RESTING = (slices, waiting)


def in_slices(
    monkeypatch: pytest.MonkeyPatch, *, size: int | None = None, budget: float | None = None
) -> None:
    """Slices have `size` values. The run rests after `budget` seconds of work."""
    for module in _SLICED if size is not None else ():
        monkeypatch.setattr(module, "SLICE", size)
    for module in _RESTING if budget is not None else ():
        monkeypatch.setattr(module, "BUDGET", budget)


def resting(budget: float) -> list[Any]:
    """Patches that make a run rest after `budget` seconds of work."""
    return [patch.object(module, "BUDGET", budget) for module in _RESTING]

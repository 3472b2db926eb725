"""Makes the executor work in small slices, and rest as often as it may."""

from typing import Any
from unittest.mock import patch

import pytest

from gateway.execution.levels import slices


def in_slices(
    monkeypatch: pytest.MonkeyPatch, *, size: int | None = None, budget: float | None = None
) -> None:
    """Slices have `size` values. The run rests after `budget` seconds of work."""
    if size is not None:
        monkeypatch.setattr(slices, "SLICE", size)
    if budget is not None:
        monkeypatch.setattr(slices, "BUDGET", budget)


def resting(budget: float) -> list[Any]:
    """Patches that make a run rest after `budget` seconds of work."""
    return [patch.object(slices, "BUDGET", budget)]

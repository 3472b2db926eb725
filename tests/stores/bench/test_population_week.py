"""The week of a tiny population, with a whole gateway."""

from pathlib import Path

import pytest

from bench.smartfeed import run, week
from bench.smartfeed.__main__ import QUICK


@pytest.mark.nightly
def test_a_week_compares_the_orders_and_shows_no_picture_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(week, "HIDE", 0.5)  # a hidden picture would come again in so small a world
    rows = {
        row.measure.removeprefix(f"{run.MEASURE}: "): row for row in run.compared(QUICK, tmp_path)
    }
    assert rows[f"pins liked a visit, {run.PEER}"].value > 0.5
    assert 0.5 < rows[f"pins liked a visit, {run.OURS}"].value < 5
    assert rows["pictures that came twice as new"].value == 0
    assert rows["hidden pictures that were shown"].value == 0
    for name in run.ARMS:
        for reason in ("FOLLOWED_USER", "FOLLOWED_INTEREST", "RELATED"):
            assert rows[f"liked of 100 shown as {reason}, {name}"].value > 0

    def never(*_: object) -> None:
        raise AssertionError("an order whose outcome is kept runs again")

    monkeypatch.setattr(run, "week", never)
    kept = {
        row.measure.removeprefix(f"{run.MEASURE}: "): row for row in run.compared(QUICK, tmp_path)
    }
    for of_run in ("the whole run", "memory at most"):
        del rows[of_run], kept[of_run]
    assert kept == rows

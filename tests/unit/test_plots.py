"""The plots of kept results."""

import json
import runpy
import xml.etree.ElementTree as ET
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.rows import RESULTS, Row

PLOTS = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "plots.py"))


@pytest.mark.parametrize(
    ("value", "goal", "room"),
    [
        (2.0, ">= 1", 1.0),
        (0.5, ">= 1", -1.0),
        (0.25, "<= 1", 2.0),
        (4.0, "<= 1", -2.0),
        (1.0, "<= 1", 0.0),
        (0.0, "<= 0", 0.0),
        (0.0, "<= 1", 4.0),
        (3.0, "<= 0", -4.0),
    ],
)
def test_room_is_counted_in_doublings_on_the_side_where_the_goal_holds(
    value: float, goal: str, room: float
) -> None:
    assert PLOTS["_room"](value, goal) == room


def test_each_benchmark_with_goals_has_a_plot_that_names_them(tmp_path: Path) -> None:
    rows = [Row("a < b", 3, "ms", "<= 2"), Row("no goal", 1, "")]
    (tmp_path / "some.json").write_text(json.dumps([asdict(row) for row in rows]))
    (tmp_path / "other.json").write_text(json.dumps([asdict(rows[1])]))
    found = PLOTS["plots"](tmp_path)
    assert list(found) == ["some-goals"]
    words = "".join(ET.fromstring(found["some-goals"]).itertext())
    assert "a < b" in words
    assert "3 ms (≤ 2)" in words
    assert "no goal" not in words


def test_the_kept_results_give_well_formed_plots() -> None:
    found = PLOTS["plots"](RESULTS)
    assert "speculation-rules" in found
    for svg in found.values():
        ET.fromstring(svg)

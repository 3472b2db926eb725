"""`python -m bench.web`: the web client in Chromium, on a gateway with demo content.

Each load begins with an empty cache, in a browser that is already running. `painted` is the first
frame after the first picture of a pin has loaded. The 5,000 pins are the demo's pins with other
ids.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from bench.execution.openloop import percentile
from bench.rows import Row, table, write
from tests.outside.node_tools import ensure_chromium, run_client
from tests.pinway_process import serving

STEPS = {
    "script": "the script has come",
    "asked": "the home feed is asked for",
    "answered": "the home feed has come",
    "card": "first card in the page",
    "picture": "first picture painted",
    "screen": "all pictures in the window painted",
}
GOALS = {"picture": "<= 1000"}
LONG_TASK = 50  # ms: what browsers call a long task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer loads, less scrolling")
    quick = parser.parse_args().quick
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "data", typed=True) as gateway,
    ):
        seen = run_client(
            "speed",
            gateway.url,
            gateway.token,
            CHROMIUM=str(ensure_chromium()),
            LOADS="3" if quick else "15",
            SCROLL_SECONDS="4" if quick else "15",
        )
    rows = [*paint_rows(seen["loads"]), *scroll_rows(seen["few"], seen["many"])]
    print(table(rows))
    if not quick:
        write("web", rows)


def paint_rows(loads: list[dict[str, float]]) -> list[Row]:
    """The median of each step, and the worst of the loads."""
    rows = []
    for step, words in STEPS.items():
        times = [load[step] for load in loads]
        spread = f"{min(times):,.0f} to {max(times):,.0f} in {len(times)} loads"
        goal = GOALS.get(step, "")
        rows.append(Row(f"first load: {words}", statistics.median(times), "ms", goal, spread))
    return rows


def scroll_rows(few: dict[str, Any], many: dict[str, Any]) -> list[Row]:
    rows = []
    for feed in (few, many):
        name, frames = f"{feed['pins']:,} pins", feed["frames"]
        long = [task for task in feed["tasks"] if task > LONG_TASK]
        rows += [
            Row(f"{name}: cards in the page at most", feed["most"], ""),
            Row(f"{name}: frame, median", statistics.median(frames), "ms"),
            Row(f"{name}: frame, p99", percentile(frames, 0.99), "ms"),
            Row(
                f"{name}: tasks over {LONG_TASK} ms", len(long), "", "<= 0" if feed is many else ""
            ),
        ]
    ratio = percentile(many["frames"], 0.99) / percentile(few["frames"], 0.99)
    against = f"{few['pins']:,} pins, in the same run"
    rows.append(Row(f"{many['pins']:,} pins: p99 of a frame over", ratio, "x", "<= 1.2", against))
    return rows


if __name__ == "__main__":
    main()

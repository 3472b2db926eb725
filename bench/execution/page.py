"""Writes the figures of a run into bench/README.md, between its marks, and the plot beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.charts import bars
from bench.execution.contenders import BULK, FLOOR, PLAIN
from bench.execution.measures import Rate
from bench.rows import Row, markdown

PAGE = Path(__file__).parents[1] / "README.md"
PLOT = Path(__file__).parents[1] / "results" / "execution.svg"
BEGIN, END = "<!-- execution: figures -->", "<!-- execution: end -->"


def write(
    rows: Sequence[Row],
    fifty: Mapping[str, Rate],
    one: Mapping[str, Rate],
    environment: Sequence[str],
) -> None:
    kinds = {BULK: "ours", PLAIN: "ours", FLOOR: "bound"}
    bar_rows = [(name, rate.per_cpu, kinds.get(name, "peer")) for name, rate in fifty.items()]
    bar_rows.sort(key=lambda row: row[1])
    PLOT.write_text(bars("Home feed pages of 50 pins, requests a second on one core", bar_rows))
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    figures = "\n".join(
        [
            BEGIN,
            "",
            *(f"- {line}" for line in environment),
            "",
            f"![requests a second](results/{PLOT.name})",
            "",
            markdown(rows),
            "",
            END,
        ]
    )
    PAGE.write_text(before + figures + after)

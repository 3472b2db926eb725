"""Writes the figures of a run into bench/README.md, between its marks."""

from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row, markdown

PAGE = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- abuse: figures -->", "<!-- abuse: end -->"


def write(rows: Sequence[Row], environment: Sequence[str]) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    lines = [f"- {line}" for line in environment]
    PAGE.write_text(before + "\n".join([BEGIN, "", *lines, "", markdown(rows), "", END]) + after)

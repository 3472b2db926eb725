"""Writes the figures of a run into bench/abuse/README.md, between its marks: the environment of
each part, the measures with goals, and a line for each attack."""

import re
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row, markdown

PAGE = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- figures -->", "<!-- end -->"
_OF_ATTACK = re.compile(r"(beside|stock|Mercurius): (?!all \d+ attacks)(.*): (p99|worst)")


def write(rows: Sequence[Row], part: str, environment: str) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    figures, _, after = rest.partition(END)
    parts = dict(re.findall(r"^- (\w+): (.*)$", figures, re.M)) | {part: environment}
    lines = [f"- {name}: {text}" for name, text in sorted(parts.items())]
    judged = [row for row in rows if not _OF_ATTACK.fullmatch(row.measure)]
    body = [BEGIN, "", *lines, "", markdown(judged), "", *_attacks(rows), "", END]
    PAGE.write_text(before + "\n".join(body) + after)


def _attacks(rows: Sequence[Row]) -> list[str]:
    """A table with a line for each attack: p99 divided by p99 without attack, and the worst
    latency, for ours and for the peers."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        if found := _OF_ATTACK.fullmatch(row.measure):
            contender, attack, kind = found.groups()
            bold = "**" if row.holds is False else ""
            text = f"{bold}{row.value:,.10g} {row.unit}{bold}"
            cells.setdefault(attack, {})[f"{contender} {kind}"] = text
    columns = [
        f"{name} {kind}" for name in ("beside", "stock", "Mercurius") for kind in ("p99", "worst")
    ]
    titles = [column.replace("beside", "Pinway") for column in columns]
    lines = [f"| attack | {' | '.join(titles)} |", "| --- |" + " ---: |" * len(columns)]
    for attack, found in cells.items():
        lines.append(f"| {attack} | {' | '.join(found.get(c, '') for c in columns)} |")
    return lines

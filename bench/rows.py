"""The results of a benchmark: rows with goals, printed as a table and stored as JSON."""

import json
import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
_COMPARE = {">=": operator.ge, "<=": operator.le}


@dataclass
class Row:
    """One measure. `goal` is for example ">= 1.2" or "<= 6"; a row without a goal only informs.
    `versus` names what the value is compared with."""

    measure: str
    value: float
    unit: str
    goal: str = ""
    versus: str = ""
    holds: bool | None = field(init=False)

    def __post_init__(self) -> None:
        self.value = float(f"{self.value:.4g}")
        self.holds = None
        if self.goal:
            sign, _, bound = self.goal.partition(" ")
            self.holds = bool(_COMPARE[sign](self.value, float(bound)))


def table(rows: Sequence[Row]) -> str:
    """The rows as lines with aligned columns."""
    cells = [("measure", "value", "goal", "holds", "versus")]
    for row in rows:
        holds = {True: "yes", False: "NO", None: ""}[row.holds]
        value = f"{row.value:,.10g} {row.unit}".strip()
        cells.append((row.measure, value, row.goal, holds, row.versus))
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column == 1 else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | value | goal | holds | versus |", "| --- | ---: | --- | --- | --- |"]
    for row in rows:
        holds = {True: "yes", False: "**no**", None: ""}[row.holds]
        value = f"{row.value:,.10g} {row.unit}".strip()
        goal = row.goal.replace(">=", "≥").replace("<=", "≤")
        lines.append(f"| {row.measure} | {value} | {goal} | {holds} | {row.versus} |")
    return "\n".join(lines)


def replace(name: str, prefixes: tuple[str, ...], rows: Sequence[Row]) -> list[Row]:
    """Store the rows in bench/results/NAME.json, in place of the rows whose measures begin with one
    of the prefixes. Returns all rows that are stored now."""
    path = RESULTS / f"{name}.json"
    kept = json.loads(path.read_text()) if path.exists() else []
    for row in kept:
        del row["holds"]
    others = [Row(**row) for row in kept if not row["measure"].startswith(prefixes)]
    write(name, [*others, *rows])
    return [*others, *rows]


def write(name: str, rows: Sequence[Row]) -> Path:
    """Store the rows as bench/results/NAME.json."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return path

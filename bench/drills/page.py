"""Merges the figures with the figures of earlier runs, and writes them into README.md between its
marks, with a column for each drill."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.machine import machine
from bench.rows import RESULTS, Row
from deploy.stack import install

HERE = Path(__file__).parent
PAGE, PLOTS = HERE / "README.md", HERE / "plots"
BEGIN, END = "<!-- drills: figures -->", "<!-- drills: end -->"
TABLES = {  # in bench/results
    "drills": "The drills",
    "drills_overload": "The drills at a rate that is too much",
    "drills_hour": "An hour's outage",
}


def kept(name: str) -> list[Row]:
    """The rows of earlier runs."""
    try:
        found = json.loads((RESULTS / f"{name}.json").read_text())
    except FileNotFoundError:
        return []
    names = ("measure", "value", "unit", "goal", "versus")
    return [Row(*(one[name] for name in names)) for one in found]


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """All new rows, and the old rows of the drills that were not run now, by drill."""
    done = {_of(row)[0] for row in new}
    rows = [*new, *(row for row in old if _of(row)[0] not in done)]
    return sorted(rows, key=lambda row: _of(row)[0])


def write() -> None:
    """Write the kept rows of all tables to the page, with the environment."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    found = {title: kept(name) for name, title in TABLES.items()}
    tables = [f"### {title}\n\n{columns(rows)}" for title, rows in found.items() if rows]
    lines = [f"- {machine()}", f"- {versions()}"]
    plots = [f"![{file.stem}](plots/{file.name})" for file in sorted(PLOTS.glob("*.svg"))]
    parts = [before + BEGIN, "\n".join(lines), *tables, *plots, END]
    PAGE.write_text("\n\n".join(parts) + after)


def columns(rows: Sequence[Row]) -> str:
    """A Markdown table with a line for each measure, then the rows that belong to no drill."""
    drills = list(dict.fromkeys(drill for drill, _ in map(_of, rows) if drill[:1].isdigit()))
    cells = {_of(row): row for row in rows}
    measures = dict.fromkeys(measure for drill, measure in cells if drill in drills)
    lines = [
        "| measure | goal | " + " | ".join(drills) + " |",
        "| --- | --- |" + " ---: |" * len(drills),
    ]
    for measure in measures:
        found = [cells.get((drill, measure)) for drill in drills]
        goals = {row.goal for row in found if row is not None and row.goal}
        units = {row.unit for row in found if row is not None and row.unit}
        goal = " or ".join(sorted(goals)).replace("<=", "≤")
        name = ", ".join([measure, *units])
        lines.append(f"| {name} | {goal} | " + " | ".join(map(_cell, found)) + " |")
    rest = [row for row in rows if _of(row)[0] not in drills]
    told = ["", *(f"- {row.measure}: {_cell(row)}" for row in rest)] if rest else []
    return "\n".join([*lines, *told])


def versions() -> str:
    """The versions of the servers and of Python, in one line."""
    pom = install.HBASE.pom.read_text()
    hbase = re.search(r"<hbase.version>(.*?)<", pom)
    programs = {
        "MariaDB": ("mariadbd", "--version"),
        "Redis": ("redis-server", "--version"),
        "memcached": ("memcached", "-V"),
        "Java": ("java", "--version"),
    }
    told = [f"HBase {hbase[1] if hbase else '?'}"]
    for name, (program, option) in programs.items():
        command = [install.tool(program), option]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        number = re.search(r"\d+(\.\d+)+", answer)
        told.append(f"{name} {number[0] if number else '?'}")
    return ", ".join([*told, f"Python {sys.version.split()[0]}"])


def _of(row: Row) -> tuple[str, str]:
    """The drill, and the measure."""
    drill, _, measure = row.measure.partition(": ")
    return drill, measure


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    value = f"{row.value:,.10g}"
    return f"**{value}**" if row.holds is False else value

"""The output of commands: text for people, or one JSON document with --json."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

FOUND = 3
"""The exit status of a command that looked for faults and found some, without an error of its
own."""

as_json: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)


def print_result(data: Any, words: str | Iterable[str], *, as_json: bool) -> None:
    """Print the data as JSON, or as text."""
    if as_json:
        click.echo(json.dumps(data, indent=2, default=str, ensure_ascii=False))
        return
    for line in [words] if isinstance(words, str) else words:
        click.echo(line)


def counted(count: int, what: str) -> str:
    """A number with its noun: "1 fault", "2 faults"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """Rows as lines with aligned columns under their names."""
    cells = [[column.upper() for column in columns]]
    cells += [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]

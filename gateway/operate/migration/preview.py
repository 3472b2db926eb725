"""Shows rows of each table as they will arrive. Nothing is written."""

from typing import TYPE_CHECKING, Any, NamedTuple

from gateway.operate.imports.jsonl import canonical
from gateway.operate.migration.conversion import convert
from gateway.operate.migration.source_checks import TablePlan

if TYPE_CHECKING:
    from datasources.mysql.source import Source

ROWS = 10


class Preview(NamedTuple):
    """A table's first rows. `rows`: for each, its primary key, its import line (None: the row is
    left out), and what is changed, or why it is left out."""

    table: str
    becomes: str
    estimate: int
    rows: list[dict[str, Any]]


async def preview(source: "Source", plan: TablePlan) -> Preview:
    page = await source.page(plan.table, plan.wanted, where=plan.mapping.where, limit=ROWS)
    rows = []
    for key, values in zip(page.keys, page.rows, strict=True):
        found = convert(plan, values)
        rows.append(
            {
                "row": ", ".join(key),
                "line": canonical(found.parsed).decode() if found.parsed is not None else None,
                "changes": found.changes,
                "left_out": found.fault,
            }
        )
    return Preview(plan.table.name, plan.mapping.becomes, plan.table.rows, rows)

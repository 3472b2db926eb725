"""`pinway migrate`: from an unsharded database to Pinway's shards."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from datasources.errors import ConfigError
from gateway.cli.output import as_json, counted, print_result
from gateway.operate.migration.mapping import Mapping, read_mapping
from gateway.operate.migration.preview import Preview, preview
from gateway.operate.migration.source_checks import TablePlan, plans
from gateway.operate.progress import run_reporting_waits

if TYPE_CHECKING:
    from datasources.mysql.source import Source

PASSWORD = "PINWAY_SOURCE_PASSWORD"
mapping_file = click.argument("mapping", type=click.Path(path_type=Path))


@click.group("migrate")
def migrate() -> None:
    """Bring the rows of an unsharded MySQL or MariaDB database to Pinway.

    MAPPING is a YAML file that says which table and which columns become which objects
    (docs/how-to/migrate.md). The source's password is in PINWAY_SOURCE_PASSWORD.
    """


@migrate.command("check")
@mapping_file
@as_json
def check_command(mapping: Path, as_json: bool) -> None:
    """Compare MAPPING with the source's tables and with Pinway's objects.

    Nothing is changed. The exit status is 1 if the mapping has faults, with a line for each.
    """
    found = run_reporting_waits(_check(read_mapping(mapping)), "the source")
    told = [
        {"table": plan.table.name, "becomes": plan.mapping.becomes, "rows": plan.table.rows}
        for plan in found
    ]
    words = [
        f"{plan.table.name}: about {counted(plan.table.rows, 'row')}, "
        f"each becomes a {plan.mapping.becomes}"
        for plan in found
    ]
    print_result(told, [*words, "the mapping fits the source"], as_json=as_json)


@migrate.command("preview")
@mapping_file
@as_json
def preview_command(mapping: Path, as_json: bool) -> None:
    """Show the first ten rows of each table of MAPPING as they will arrive.

    Nothing is changed. A row is shown as a line of the import format (docs/import.md), with the old
    ids as keys.
    """
    found = run_reporting_waits(_preview(read_mapping(mapping)), "the source")
    words = []
    for table in found:
        words.append(f"{table.table}: about {counted(table.estimate, 'row')}")
        for row in table.rows:
            words.append(f"  {row['row']}: {row['line'] or 'left out: ' + row['left_out']}")
            words += [f"    changed: {change}" for change in row["changes"]]
    print_result([table._asdict() for table in found], words, as_json=as_json)


async def _check(mapping: Mapping) -> list[TablePlan]:
    async with _opened(mapping) as opened:
        return opened.plans


async def _preview(mapping: Mapping) -> list[Preview]:
    async with _opened(mapping) as opened:
        return [await preview(opened.source, plan) for plan in opened.plans]


class _Opened(NamedTuple):
    source: "Source"
    plans: list[TablePlan]


@asynccontextmanager
async def _opened(mapping: Mapping) -> AsyncIterator[_Opened]:
    """The source and what to read from it. Raises BadMapping, and ConfigError without a driver."""
    try:
        from datasources.mysql.source import Source
    except ImportError as error:
        raise ConfigError(f"pip install 'pinway[servers]' for a migration: {error}") from None
    password = os.environ.get(PASSWORD, "")
    source = Source(mapping.source, password=password, ca=mapping.ca)
    try:
        yield _Opened(source, await plans(mapping, source))
    finally:
        await source.close()

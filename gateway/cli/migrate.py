"""`pinway migrate`: from an unsharded database to Pinway's shards."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from datasources.errors import ConfigError
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, counted, print_result
from gateway.operate.imports.checks import KINDS
from gateway.operate.imports.report import ImportReport
from gateway.operate.imports.scratch import database_errors
from gateway.operate.migration.copying import Reading, find_old, read_tables, write_rows
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.mapping import Mapping, read_mapping
from gateway.operate.migration.preview import Preview, preview
from gateway.operate.migration.source_checks import TablePlan, plans
from gateway.operate.progress import Bars, run_reporting_waits
from gateway.settings import Settings
from gateway.site.directory import make_directory
from gateway.site.embedded_stores import check_made, file_of_shards
from gateway.site.runtime import running

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


@migrate.command("copy")
@mapping_file
@click.option("--no-feeds", is_flag=True, help="Build no feeds.")
@as_json
@with_settings
def copy_command(settings: Settings, mapping: Path, no_feeds: bool, as_json: bool) -> None:
    """Copy the rows of MAPPING's tables into the shards.

    The command may be killed and run again: a journal under data_dir has its progress, and no row
    is stored twice. Every row that is left out, and every value that is changed, is in a report.
    """
    done = asyncio.run(_copy(settings, read_mapping(mapping), feeds=not no_feeds))
    counts, loaded = done.counts, done.report.loaded
    told = {
        **counts,
        "rows_per_second": round(done.reading.rate),
        "loaded": loaded,
        "new": {kind: number for kind, number in done.report.new.items() if number},
        "report": str(done.path),
    }
    parts = ", ".join(counted(number, kind) for kind, number in loaded.items() if number)
    words = [
        f"read {counted(counts['rows'], 'row')}, of them {done.reading.new:,} in this run, "
        f"{done.reading.rate:,.0f} a second",
        f"copied {parts or 'nothing'}",
        f"{counted(counts['left_out'], 'row')} left out, {counted(counts['changes'], 'value')} "
        f"changed: {done.path}",
    ]
    print_result(told, words, as_json=as_json)


@migrate.command("find")
@mapping_file
@click.argument("kind", type=click.Choice(list(KINDS.values())))
@click.argument("old_id", nargs=-1, required=True)
@as_json
@with_settings
def find_command(
    settings: Settings, mapping: Path, kind: str, old_id: tuple[str, ...], as_json: bool
) -> None:
    """Print the new id of each OLD_ID of a KIND that was copied by MAPPING."""
    name = read_mapping(mapping).name
    found = run_reporting_waits(_find(settings, name, kind, list(old_id)))
    words = [f"{old}: {found.get(old, 'not copied')}" for old in old_id]
    print_result({old: found.get(old) for old in old_id}, words, as_json=as_json)


async def _check(mapping: Mapping) -> list[TablePlan]:
    async with _opened(mapping) as opened:
        return opened.plans


async def _preview(mapping: Mapping) -> list[Preview]:
    async with _opened(mapping) as opened:
        return [await preview(opened.source, plan) for plan in opened.plans]


class _Copied(NamedTuple):
    reading: Reading
    report: ImportReport
    counts: dict[str, int]
    path: Path


async def _copy(settings: Settings, mapping: Mapping, *, feeds: bool) -> _Copied:
    make_directory(settings.data_dir.resolve())
    folder = file_of_shards(settings, "migrations", mapping.name)
    with database_errors(f"the journal in {folder}"), closing(Journal(folder, mapping)) as journal:
        async with _opened(mapping) as opened:
            with Bars("the source") as bars:
                reading = await read_tables(opened.source, opened.plans, journal, bars)
        with Bars() as bars:
            async with running(settings, jobs=False, create=bars) as runtime:
                report = await write_rows(
                    runtime.stores, mapping.name, journal, bars, feeds=feeds, walks=runtime.walks
                )
        return _Copied(reading, report, journal.counts(), journal.write_report())


async def _find(settings: Settings, name: str, kind: str, old: list[str]) -> dict[str, int]:
    check_made(settings)
    async with running(settings, jobs=False) as runtime:
        return await find_old(runtime.stores, name, kind, old)


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

"""`pinway migrate`: from an unsharded database to Pinway's shards."""

import asyncio
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click

from datasources.errors import ConfigError
from gateway.cli.migrate_back import back_command
from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, print_result
from gateway.operate.imports.checks import KINDS
from gateway.operate.imports.report import ImportReport, Progress
from gateway.operate.migration.converging import Convergence
from gateway.operate.migration.copying import Reading, find_old, read_tables, write_rows
from gateway.operate.migration.cut_over import CutOver, check_not_done, cut_over
from gateway.operate.migration.following import (
    Round,
    following,
    restart,
    stored_position,
)
from gateway.operate.migration.mapping import Mapping, read_mapping
from gateway.operate.migration.opening import opened_journal, opened_source, opened_work
from gateway.operate.migration.preview import Preview, preview
from gateway.operate.migration.rights import Missing, missing_rights
from gateway.operate.migration.source_checks import NotFollowed, TablePlan, not_followed
from gateway.operate.migration.verification import Verified, verify
from gateway.operate.migration.waiting import telling_waits
from gateway.operate.progress import Bars, run_reporting_waits
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made
from gateway.site.runtime import running

mapping_file = click.argument("mapping", type=click.Path(path_type=Path))


_SAY = 1.0  # seconds between two lines about the lag
_PAUSE = 0.1  # seconds before the log is read again, if it had nothing


@click.group("migrate")
def migrate() -> None:
    """Bring the rows of an unsharded MySQL or MariaDB database to Pinway.

    MAPPING is a YAML file that says which table and which columns become which objects
    (docs/how-to/migrate.md). The source's password is in PINWAY_SOURCE_PASSWORD.
    """


migrate.add_command(back_command)


@migrate.command("check")
@mapping_file
@as_json
def check_command(mapping: Path, as_json: bool) -> None:
    """Compare MAPPING with the source's tables and with Pinway's objects.

    The rights of the source's user are compared with the rights that the commands need.

    Nothing is changed. The exit status is 1 if the mapping has faults, with a line for each. A line
    for each right that a command after the copy needs has the statement that gives it. A line for
    each table that can be copied, but not followed, names the column of its primary key.
    """
    plans, missing, unfollowed = run_reporting_waits(_check(read_mapping(mapping)), "the source")
    told = {
        "tables": [
            {"table": plan.table.name, "becomes": plan.mapping.becomes, "rows": plan.table.rows}
            for plan in plans
        ],
        "missing_rights": [one._asdict() for one in missing],
        "not_followed": [one._asdict() for one in unfollowed],
    }
    words = [
        f"{plan.table.name}: about {counted(plan.table.rows, 'row')}, "
        f"each becomes a {plan.mapping.becomes}"
        for plan in plans
    ]
    words += [one.words() for one in missing]
    words += [one.words() for one in unfollowed]
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


@migrate.command("verify")
@mapping_file
@click.option("--repair", is_flag=True, help="Mend what differs, from the source.")
@as_json
@with_settings
def verify_command(settings: Settings, mapping: Path, repair: bool, as_json: bool) -> None:
    """Compare the rows of MAPPING's tables with the objects and edges in the shards.

    Every row is compared, field by field, with its object, list or edge. Each range of a table's
    primary key has its number of rows and two checksums. The exit status is 3 if something differs
    (with --repair: if something still differs after the repair).
    """
    found = asyncio.run(_verify(settings, read_mapping(mapping), repair=repair))
    told = {
        "rows": found.rows,
        "left_out": found.left_out,
        "without_keys": found.without_keys,
        "ranges": [one._asdict() for one in found.ranges],
        "differences": [one.told() for one in found.differences],
    }
    words = [
        f"{one.row.table} {', '.join(one.row.key)}: {one.item}"
        f"{' ' + one.field if one.field else ''}: {one.source} in the source, "
        f"{one.shards} in the shards"
        for one in found.differences
    ]
    users = f"{counted(found.without_keys, 'user')} without a key that another user has"
    without = f", {users}" if found.without_keys else ""
    equal = sum(one.source == one.shards for one in found.ranges)
    words.append(
        f"compared {counted(found.rows, 'row')}, {found.left_out:,} of them left out{without}: "
        f"{equal:,} of {counted(len(found.ranges), 'range')} equal, "
        f"{counted(len(found.differences), 'difference')}"
    )
    print_result(told, words, as_json=as_json)
    if found.differences:
        sys.exit(FOUND)


@migrate.command("follow")
@mapping_file
@click.option("--until-caught-up", is_flag=True, help="End when less than a second behind.")
@as_json
@with_settings
def follow_command(settings: Settings, mapping: Path, until_caught_up: bool, as_json: bool) -> None:
    """Bring the changes of MAPPING's tables since the copy to the shards, as they happen.

    The changes come from the source's binary log. The command may be killed and run again. It says
    how far it is behind, and goes on until Ctrl-C or SIGTERM, or until less than a second behind.
    """
    done = asyncio.run(_follow(settings, read_mapping(mapping), until_caught_up=until_caught_up))
    told = {"rows": done.rows, "behind": done.behind, "position": str(done.position)}
    print_result(told, done.words(), as_json=as_json)


@migrate.command("cut-over")
@mapping_file
@click.option(
    "--within",
    type=click.FloatRange(0.1, 60),
    default=1.0,
    show_default=True,
    help="Seconds for which writes may be refused.",
)
@click.option("--then", default="", help="A shell command that lets writes come to Pinway.")
@as_json
@with_settings
def cut_over_command(
    settings: Settings, mapping: Path, within: float, then: str, as_json: bool
) -> None:
    """Stop the writes to MAPPING's source, bring its last changes, and run the command --then.

    The source's server stays read-only after it. If the last changes and the command take longer
    than --within, or fail, the source takes writes again, and the exit status is 1.
    """
    done = asyncio.run(_cut_over(settings, read_mapping(mapping), within=within, then=then))
    told = {"refused": done.refused, "rows": done.rows, "position": str(done.position)}
    words = (
        f"writes were refused for {done.refused:.2f} s, in which {counted(done.rows, 'row')} came; "
        f"the source is read-only, at {done.position}"
    )
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


async def _check(mapping: Mapping) -> tuple[list[TablePlan], list[Missing], list[NotFollowed]]:
    async with opened_source(mapping) as (source, plans):
        missing = missing_rights(await source.grants(), source.database, plans)
        return plans, missing, await not_followed(source, plans)


async def _preview(mapping: Mapping) -> list[Preview]:
    async with opened_source(mapping) as opened:
        return [await preview(opened.source, plan) for plan in opened.plans]


class _Copied(NamedTuple):
    reading: Reading
    report: ImportReport
    counts: dict[str, int]
    path: Path


async def _copy(settings: Settings, mapping: Mapping, *, feeds: bool) -> _Copied:
    with opened_journal(settings, mapping) as journal:
        check_not_done(journal)
        if journal.fact("followed") is not None:
            raise ConfigError(
                f"{mapping.name} was repaired or followed since its copy: migrate verify finds "
                "missing rows, and migrate follow brings new ones"
            )
        async with opened_source(mapping) as opened:
            begins = await opened.source.log_position()
            if stored_position(journal) is None and begins is not None:
                # Changes after it may be missed by the copy.
                await restart(journal, opened.source, begins)
            with Bars("the source") as bars:
                reading = await read_tables(opened.source, opened.plans, journal, bars)
        with Bars() as bars:
            async with running(settings, jobs=False, create=bars) as runtime:
                report = await write_rows(
                    runtime.stores,
                    journal,
                    bars,
                    feeds=feeds,
                    walks=runtime.walks,
                    limits=runtime.feeds.settings,
                )
        journal.set_fact("copied", "yes")
        return _Copied(reading, report, journal.counts(), journal.write_report())


async def _verify(settings: Settings, mapping: Mapping, *, repair: bool) -> Verified:
    async with opened_work(settings, mapping) as work:
        stores, ledger, keys = work.runtime.stores, work.ledger, work.journal.keys
        if repair:
            check_not_done(work.journal)
        begins = await work.source.log_position() if repair else None

        async def compare() -> Verified:
            with Bars("the source") as bars:
                return await verify(stores, work.source, work.plans, ledger, keys, bars)

        found = await compare()
        was_followed = work.journal.fact("followed") is not None
        if not repair or not (found.differences or was_followed):
            return found
        work.journal.set_fact("followed", "yes")
        ledger.look_at([*(one.row for one in found.differences), *found.new])
        for plan in work.plans:
            ledger.look_at_left_out(plan.table.name)
        convergence = Convergence(stores, work.source, work.plans, ledger, keys, anew=True)
        done, total = 0, ledger.waiting_count()
        with Bars("the source") as bars:

            def step(rows: int) -> None:
                nonlocal done
                done += rows
                bars(Progress("repairing", done, max(total, done), "rows"))

            await convergence.work(step)
        if begins is not None:  # the log may have lost the former position
            await restart(work.journal, work.source, begins)
        return await compare()


async def _follow(settings: Settings, mapping: Mapping, *, until_caught_up: bool) -> Round:
    async with opened_work(settings, mapping) as work:
        check_not_done(work.journal)
        async with following(work) as follower:
            rows, told = 0, 0.0
            while True:
                found = await telling_waits(
                    follower.round(lambda _: None), follower.waits, _say_wait
                )
                rows += found.rows
                whole = found._replace(rows=rows)
                if until_caught_up and found.is_caught_up:
                    return whole
                if time.monotonic() - told >= _SAY:
                    click.echo(whole.words(), err=True)
                    told = time.monotonic()
                if not found.rows:
                    await asyncio.sleep(_PAUSE)


def _say_wait(waits: str) -> None:
    click.echo(f"a read of the source waits: {waits}", err=True)


async def _cut_over(settings: Settings, mapping: Mapping, *, within: float, then: str) -> CutOver:
    async with opened_work(settings, mapping) as work:
        check_not_done(work.journal)
        async with following(work) as follower:
            return await cut_over(follower, work.journal, within=within, then=then)


async def _find(settings: Settings, name: str, kind: str, old: list[str]) -> dict[str, int]:
    check_made(settings)
    async with running(settings, jobs=False) as runtime:
        return await find_old(runtime.stores, name, kind, old)

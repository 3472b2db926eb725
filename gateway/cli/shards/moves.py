"""`pinway shards move`, `verify`, `rollback` and `close`: live moves of shards."""

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from datasources.replication import moves
from datasources.replication.accounts import Replica
from datasources.replication.mover import Mover
from datasources.replication.moves import Move
from datasources.replication.sides import Report
from gateway.cli.options import Command, with_dry_run, with_settings
from gateway.cli.output import FOUND
from gateway.cli.shards.operation import require_password, run, with_replica
from gateway.operate.failover.moves import intended, move_to, mover_of, recorded_move
from gateway.operate.failover.work import Work
from gateway.settings import Settings

LISTED = 50  # differences that are printed; --json has all


class Teller:
    """Prints events: lines for people, or one JSON object for each event."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def tell(self, line: str) -> None:
        self._print({"told": line}, line)

    def lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.tell(line)

    def progress(self, done: int, total: int) -> None:
        if done % max(1, total // 10) == 0:
            self._print({"done": done, "of": total}, f"  {done} of {total} shards")

    def end(self, move: Move) -> None:
        self._print({"move": msgspec.to_builtins(move)}, moves.picture(move).strip())

    def report(self, report: Report) -> None:
        found = [difference._asdict() for difference in report.differences]
        rate = report.rows / report.seconds if report.seconds else 0.0
        lines = [
            f"{d.table} {d.key} of shard {d.shard}: {d.fault}" for d in report.differences[:LISTED]
        ]
        told = "were repaired" if report.repaired else "differ"
        lines.append(
            f"{report.rows:,} rows compared in {report.seconds:.1f} s ({rate:,.0f} a second), "
            f"{len(found)} {told}"
        )
        data = {
            "rows": report.rows,
            "seconds": round(report.seconds, 3),
            "repaired": report.repaired,
            "differences": found,
        }
        self._print(data, "\n".join(lines))

    def _print(self, data: dict[str, Any], words: str) -> None:
        click.echo(json.dumps(data) if self._as_json else words)


def with_move(command: Command) -> Command:
    """Adds the argument RANGE and the options of all commands about moves."""
    command = click.argument("range", metavar="RANGE")(command)
    command = with_replica(command)
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")(
        command
    )


@click.command("move")
@with_settings
@with_move
@click.option("--to", "host", metavar="HOST", help="The master that gets the shards.")
@click.option(
    "--group",
    type=click.IntRange(min=1),
    default=moves.GROUP,
    show_default=True,
    help="Shards handed over at once.",
)
@click.option("--no-verify", is_flag=True, help="Don't compare both sides first.")
@with_dry_run
def move_command(
    settings: Settings,
    range: str,
    host: str | None,
    group: int,
    no_verify: bool,
    dry_run: bool,
    as_json: bool,
    replica: Replica,
) -> None:
    """Move shards RANGE (like 64-127) to HOST while they are read and written.

    An interrupted move continues when the command is run again. Afterwards `rollback` brings the
    shards back, until `close` ends the move.
    """
    teller = Teller(as_json)

    async def act(work: Work) -> None:
        if not dry_run:
            require_password(replica)
        move, version = await move_to(work, range, host, group)
        mover = await _mover(work, move, version, replica, teller, dry_run=dry_run)
        if mover is not None:
            mover.verifies = not no_verify
            teller.end(await mover.run())

    run(settings, None if dry_run else f"move {range}", act, teller.tell)


@click.command("rollback")
@with_settings
@with_move
@with_dry_run
def rollback_command(
    settings: Settings, range: str, dry_run: bool, as_json: bool, replica: Replica
) -> None:
    """Bring the shards RANGE of a move back. The move may be at any step before `close`."""
    teller = Teller(as_json)

    async def act(work: Work) -> None:
        move, version = await recorded_move(work, range)
        mover = await _mover(work, move, version, replica, teller, dry_run=dry_run)
        if mover is not None:
            teller.end(await mover.rollback())

    run(settings, None if dry_run else f"rollback {range}", act, teller.tell)


@click.command("close")
@with_settings
@with_move
@click.option("--drop", is_flag=True, help="Delete the copies on the server that lost the shards.")
@with_dry_run
def close_command(
    settings: Settings, range: str, drop: bool, dry_run: bool, as_json: bool, replica: Replica
) -> None:
    """End the move of shards RANGE. There is no rollback afterwards."""
    teller = Teller(as_json)

    async def act(work: Work) -> None:
        move, version = await recorded_move(work, range)
        mover = await _mover(work, move, version, replica, teller, dry_run=dry_run)
        if mover is not None:
            teller.end(await mover.close(drop=drop))

    run(settings, None if dry_run else f"close {range}", act, teller.tell)


@click.command("verify")
@with_settings
@with_move
@click.option("--repair", is_flag=True, help="Change the follower's rows to match.")
def verify_command(
    settings: Settings, range: str, repair: bool, as_json: bool, replica: Replica
) -> None:
    """Compare both sides of the move of shards RANGE; exit with 3 if rows differ."""
    found: list[Report] = []
    teller = Teller(as_json)

    async def act(work: Work) -> None:
        move, version = await recorded_move(work, range)
        mover = await mover_of(work, move, version, replica=replica, progress=teller.progress)
        report = await mover.verify(repair=repair)
        teller.report(report)
        found.append(report)

    run(settings, f"verify {range}", act, teller.tell)
    if any(report.differences and not report.repaired for report in found):
        sys.exit(FOUND)


async def _mover(
    work: Work, move: Move, version: int | None, replica: Replica, teller: Teller, *, dry_run: bool
) -> Mover | None:
    """The mover of a move; for a dry run the move's steps are printed instead."""
    if dry_run:
        teller.lines(intended(work, move))
        return None
    return await mover_of(work, move, version, replica=replica, progress=teller.progress)

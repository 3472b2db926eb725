"""`pinway shards move`, `verify`, `rollback` and `close`: live moves of shards."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import click
import msgspec

from datasources.errors import ConfigError
from datasources.replication import moves, topologies
from datasources.replication.mover import Mover
from datasources.replication.moves import Move
from datasources.replication.sides import Report
from datasources.topology import Topology
from gateway.cli.options import Command, with_dry_run, with_settings
from gateway.cli.output import FOUND
from gateway.cli.working import Work, require_replica_password, run
from gateway.settings import Settings

LISTED = 50  # differences that are printed; --json has all


class Records:
    """A move's record and the topology: `datasources.replication.mover.Records`."""

    def __init__(self, work: Work, version: int | None) -> None:
        self._work, self._version = work, version

    async def save(self, move: Move) -> None:
        data = moves.encode(move)
        self._version = await self._work.operations.save(move.id, data, self._version)

    async def topology(self) -> Topology:
        return await self._work.source.load()

    async def replace(self, topology: Topology, *, expected_epoch: int) -> None:
        await self._work.source.save(topology, expected_epoch=expected_epoch)


class Teller:
    """Prints events: lines for people, or one JSON object for each event."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def tell(self, line: str) -> None:
        self._print({"told": line}, line)

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
    for option in (
        click.argument("range", metavar="RANGE"),
        click.option("--replica-user", default="replica", show_default=True),
        click.option(
            "--replica-password",
            envvar="PINWAY_REPLICA_PASSWORD",
            default="",
            help="The password of servers at each other.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line."),
    ):
        command = option(command)
    return command


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
    replica_user: str,
    replica_password: str,
) -> None:
    """Move shards RANGE (like 64-127) to HOST while they are read and written.

    An interrupted move continues when the command is run again. Afterwards `rollback` brings the
    shards back, until `close` ends the move.
    """

    async def act(work: Work) -> None:
        span = topologies.span_of(range)
        if not dry_run:
            require_replica_password(replica_password)
        known = await work.moves()
        move, version = known.get(moves.id_of(span), (None, None))
        if move is None or moves.is_over(move):
            moves.check_alone(span, [other for other, _ in known.values()])
            if host is None:
                raise ConfigError(f"shards {range} are in no move: say where to with --to")
            move = moves.planned(work.topology, span, host, group)
        elif move.back:
            raise ConfigError(f"shards {range} are going back: finish `pinway shards rollback`")
        elif host not in (None, moves.renamed(move, work.topology).destination):
            raise ConfigError(f"shards {range} are on their way to {move.destination}")
        await _go(work, move, version, (replica_user, replica_password), as_json, dry_run, go_on)

    async def go_on(mover: Mover) -> Move:
        mover.verifies = not no_verify
        return await mover.run()

    run(settings, None if dry_run else f"move {range}", act)


@click.command("rollback")
@with_settings
@with_move
@with_dry_run
def rollback_command(
    settings: Settings,
    range: str,
    dry_run: bool,
    as_json: bool,
    replica_user: str,
    replica_password: str,
) -> None:
    """Bring the shards RANGE of a move back. The move may be at any step before `close`."""

    async def act(work: Work) -> None:
        move, version = await _known(work, range)
        account = replica_user, replica_password
        await _go(work, move, version, account, as_json, dry_run, Mover.rollback)

    run(settings, None if dry_run else f"rollback {range}", act)


@click.command("close")
@with_settings
@with_move
@click.option("--drop", is_flag=True, help="Delete the copies on the server that lost the shards.")
@with_dry_run
def close_command(
    settings: Settings,
    range: str,
    drop: bool,
    dry_run: bool,
    as_json: bool,
    replica_user: str,
    replica_password: str,
) -> None:
    """End the move of shards RANGE. There is no rollback afterwards."""

    async def act(work: Work) -> None:
        move, version = await _known(work, range)
        account = replica_user, replica_password

        async def close(mover: Mover) -> Move:
            return await mover.close(drop=drop)

        await _go(work, move, version, account, as_json, dry_run, close)

    run(settings, None if dry_run else f"close {range}", act)


@click.command("verify")
@with_settings
@with_move
@click.option("--repair", is_flag=True, help="Change the follower's rows to match.")
def verify_command(
    settings: Settings,
    range: str,
    repair: bool,
    as_json: bool,
    replica_user: str,
    replica_password: str,
) -> None:
    """Compare both sides of the move of shards RANGE; exit with 3 if rows differ."""
    found: list[Report] = []

    async def act(work: Work) -> None:
        move, version = await _known(work, range)
        teller = Teller(as_json)
        mover = await _mover(work, move, version, (replica_user, replica_password), teller)
        report = await mover.verify(repair=repair)
        teller.report(report)
        found.append(report)

    run(settings, f"verify {range}", act)
    if any(report.differences and not report.repaired for report in found):
        sys.exit(FOUND)


async def _known(work: Work, range: str) -> tuple[Move, int]:
    span = topologies.span_of(range)
    known = await work.moves()
    if (id := moves.id_of(span)) not in known:
        told = ", ".join(f"{m.range[0]}-{m.range[1]}" for m, _ in known.values()) or "none"
        raise ConfigError(f"shards {range} are in no move; shards in moves are {told}")
    return known[id]


async def _go(
    work: Work,
    move: Move,
    version: int | None,
    account: tuple[str, str],
    as_json: bool,
    dry_run: bool,
    act: Callable[[Mover], Awaitable[Move]],
) -> None:
    teller = Teller(as_json)
    if dry_run:
        for line in moves.intended(moves.renamed(move, work.topology)):
            teller.tell(line)
        return
    mover = await _mover(work, move, version, account, teller)
    teller.end(await act(mover))


async def _mover(
    work: Work, move: Move, version: int | None, account: tuple[str, str], teller: Teller
) -> Mover:
    from datasources.mysql.replication.attaching import Replica
    from datasources.mysql.replication.moving import MariaDbSides

    move = moves.renamed(move, work.topology)
    sides = MariaDbSides(move, work.admin, Replica(*account))
    await sides.check(move.origin, move.destination)
    records = Records(work, version)
    return Mover(move, sides, records, tell=teller.tell, progress=teller.progress)

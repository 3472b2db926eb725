"""`pinway shards show`, `check`, `add`, `remove`, `open`, `attach` and `detach`: the shards'
servers."""

import json
import sys
from dataclasses import asdict
from typing import Any

import click
import msgspec

from datasources.replication import moves, topologies
from datasources.replication.accounts import Replica
from datasources.replication.shard_picture import picture
from gateway.cli.options import with_dry_run, with_settings
from gateway.cli.output import FOUND, as_json, print_result
from gateway.cli.shards.operation import require_password, run, with_replica
from gateway.operate.failover import servers
from gateway.operate.failover.work import Work
from gateway.settings import Settings


@click.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_settings
def show_command(settings: Settings, as_json: bool) -> None:
    """Show which servers have which shards, their sizes, and how far slaves are behind."""

    async def show(work: Work) -> None:
        states = {state.name: state for state in await servers.states(work)}
        found = [move for move, _ in (await work.moves()).values()]
        if as_json:
            shown = {
                "epoch": work.topology.epoch,
                "shards": [_as_dict(r) for r in work.topology.shards],
                "mod": [_as_dict(r) for r in work.topology.mod.ranges],
                "moves": [msgspec.to_builtins(move) for move in found],
                "servers": {name: asdict(state) for name, state in states.items()},
            }
            click.echo(json.dumps(shown, indent=2))
        else:
            lines = picture(work.topology, states)
            if found:
                lines += ["", "moves", *map(moves.picture, found)]
            click.echo("\n".join(lines))

    run(settings, None, show)


@click.command("check")
@as_json
@with_settings
def check_command(settings: Settings, as_json: bool) -> None:
    """Check the settings that acknowledged writes depend on; exit with 3 if some are wrong."""
    found: list[str] = []

    async def check(work: Work) -> None:
        found.extend(await servers.setting_faults(work))

    run(settings, None, check)
    words = found or ["all servers are set as they must be"]
    print_result({"faults": found}, words, as_json=as_json)
    sys.exit(FOUND if found else 0)


@click.command("add")
@click.argument("name")
@click.argument("url")
@with_settings
def add_command(settings: Settings, name: str, url: str) -> None:
    """Add server NAME at URL (mysql://HOST:PORT) to the topology; it has no shards yet."""

    async def add(work: Work) -> None:
        await servers.add(work, name, url)

    run(settings, f"add {name}", add)


@click.command("remove")
@click.argument("name")
@with_settings
def remove_command(settings: Settings, name: str) -> None:
    """Remove server NAME, which has no shards, from the topology. NAME keeps its data."""

    async def remove(work: Work) -> None:
        await servers.remove(work, name)

    run(settings, f"remove {name}", remove)


@click.command("open")
@click.argument("range", metavar="RANGE")
@click.option("--on", "host", required=True, metavar="HOST", help="The master of the new shards.")
@click.option("--slave", help="The master's slave; by default the slave of its present shards.")
@with_dry_run
@with_settings
def open_command(
    settings: Settings, range: str, host: str, slave: str | None, dry_run: bool
) -> None:
    """Open new shards RANGE (like 64-127) on HOST. Afterwards they get new objects, too."""

    async def open_range(work: Work) -> None:
        span = topologies.span_of(range)
        found = await servers.open_range(work, span, host, slave, dry_run=dry_run)
        if dry_run:
            click.echo(f"would open shards {range} on {host}, slave {found or 'none'}")

    run(settings, f"open {range}", open_range)


@click.command("attach")
@click.argument("host")
@click.option("--to", "master", help="HOST's master; needed when several masters have no slave.")
@with_replica
@with_settings
def attach_command(settings: Settings, host: str, master: str | None, replica: Replica) -> None:
    """Make HOST the slave of a master without one. Rows that only HOST has are deleted."""

    async def attach(work: Work) -> None:
        over = servers.master_for(work, host, master)
        require_password(replica)
        await servers.attach(work, host, over, replica)

    run(settings, f"attach {host}", attach)


@click.command("detach")
@click.argument("host")
@with_settings
def detach_command(settings: Settings, host: str) -> None:
    """Let the master of slave HOST continue alone. Until then the master's writes wait for HOST."""

    async def detach(work: Work) -> None:
        await servers.detach(work, host)

    run(settings, f"detach {host}", detach)


def _as_dict(shards: Any) -> dict[str, Any]:
    return {"range": list(shards.range), "master": shards.master, "slave": shards.slave}

"""`pinway shards`: where the shards are, new ranges, promotions and slaves."""

import json
import sys
from dataclasses import asdict
from typing import Any

import click
import msgspec

from datasources.errors import ConfigError, StoreError
from datasources.replication import moves, topologies
from datasources.replication.checking import faults_in
from datasources.replication.showing import ServerState, picture
from datasources.together import together
from gateway.cli.options import with_dry_run, with_settings
from gateway.cli.output import FOUND, as_json, tell
from gateway.cli.promoting import promoted
from gateway.cli.working import Work, require_replica_password, run
from gateway.settings import Settings


@click.group("shards")
def shards() -> None:
    """The shards' servers: see them, open ranges, promote slaves."""


@shards.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@with_settings
def show_command(settings: Settings, as_json: bool) -> None:
    """Show which servers have which shards, their sizes, and how far slaves are behind."""

    async def show(work: Work) -> None:
        from datasources.mysql.replication.states import state_of

        async def ask(name: str) -> ServerState:
            return await state_of(work.admin(name))

        states = await together(ask(name) for name in sorted(work.topology.servers))
        found = [move for move, _ in (await work.moves()).values()]
        if as_json:
            shown = {
                "epoch": work.topology.epoch,
                "shards": [asdict_range(r) for r in work.topology.shards],
                "mod": [asdict_range(r) for r in work.topology.mod.ranges],
                "moves": [msgspec.to_builtins(move) for move in found],
                "servers": {state.name: asdict(state) for state in states},
            }
            click.echo(json.dumps(shown, indent=2))
        else:
            lines = picture(work.topology, {s.name: s for s in states})
            if found:
                lines += ["", "moves", *map(moves.picture, found)]
            click.echo("\n".join(lines))

    run(settings, None, show)


@shards.command("check")
@as_json
@with_settings
def check_command(settings: Settings, as_json: bool) -> None:
    """Check the settings that acknowledged writes depend on; exit with 3 if some are wrong."""
    found: list[str] = []

    async def check(work: Work) -> None:
        from datasources.mysql.replication.states import variables_of

        masters = topologies.masters(work.topology)
        slaves = topologies.slaves(work.topology)

        async def ask(name: str) -> list[str]:
            try:
                variables = await variables_of(work.admin(name))
            except StoreError as error:
                return [str(error)]  # the error names the server
            return [f"{name}: {fault}" for fault in faults_in(work.topology, name, variables)]

        for lines in await together(ask(name) for name in sorted({*masters, *slaves})):
            found.extend(lines)

    run(settings, None, check)
    words = found or ["all servers are set as they must be"]
    tell({"faults": found}, words, as_json=as_json)
    sys.exit(FOUND if found else 0)


@shards.command("add")
@click.argument("name")
@click.argument("url")
@with_settings
def add_command(settings: Settings, name: str, url: str) -> None:
    """Add server NAME at URL (mysql://HOST:PORT) to the topology; it has no shards yet."""

    async def add(work: Work) -> None:
        from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin

        following = topologies.added(work.topology, name, url)
        account = settings.mysql.operator_user, settings.mysql.operator_password
        admin = Admin(name, url, *account, settings.mysql.ca)
        try:
            await admin.run("SELECT 1", within=CONNECT_SECONDS)
        except StoreError as error:
            raise ConfigError(f"{error}; nothing was changed: start it, or mend the URL") from None
        finally:
            await admin.close()
        await work.save(following)

    run(settings, f"add {name}", add)


@shards.command("remove")
@click.argument("name")
@with_settings
def remove_command(settings: Settings, name: str) -> None:
    """Remove server NAME, which has no shards, from the topology. NAME keeps its data."""

    async def remove(work: Work) -> None:
        following = topologies.removed(work.topology, name)
        moves.check_unused(name, [move for move, _ in (await work.moves()).values()])
        await work.save(following)

    run(settings, f"remove {name}", remove)


@shards.command("open")
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
        from datasources.mysql import MySqlShards

        span = topologies.span_of(range)
        of = slave or topologies.slave_of(work.topology, host)
        following = topologies.opened(work.topology, span, host, of)
        if dry_run:
            click.echo(f"would open shards {range} on {host}, slave {of or 'none'}")
            return
        store = MySqlShards(
            following,
            user=work.settings.mysql.operator_user,
            password=work.settings.mysql.operator_password,
            ca=work.settings.mysql.ca,
        )
        try:
            await store.open_shards(span)
        finally:
            await store.close()
        await work.save(following)

    run(settings, f"open {range}", open_range)


@shards.command("promote")
@click.argument("host")
@click.option(
    "--accept-loss", is_flag=True, help="Promote HOST even if it may lack acknowledged writes."
)
@click.option("--restored", is_flag=True, help="HOST was restored from a backup of a lost pair.")
@click.option("--over", help="The lost master; needed if HOST was restored, and was not its slave.")
@with_dry_run
@with_settings
def promote_command(
    settings: Settings,
    host: str,
    accept_loss: bool,
    restored: bool,
    over: str | None,
    dry_run: bool,
) -> None:
    """Make slave HOST the master of its master's shards. The old master may be dead, or hang.

    Afterwards HOST has no slave: `pinway shards attach` gives it one.
    """
    if over is not None and not restored:
        raise ConfigError("--over is for --restored: a slave takes the place of its own master")

    async def promote(work: Work) -> None:
        topologies.check_server(work.topology, host)
        if over is not None:
            old = over
        elif restored and host in topologies.masters(work.topology):
            old = host
        else:
            old = topologies.master_over(work.topology, host)
        topologies.check_master(work.topology, old)
        if dry_run:
            click.echo(f"would make {host} the master of all shards of {old}")
            return
        await promoted(work, host, old, click.echo, accept_loss=accept_loss, restored=restored)

    run(settings, f"promote {host}", promote)


@shards.command("attach")
@click.argument("host")
@click.option("--to", "master", help="HOST's master; needed when several masters have no slave.")
@click.option("--replica-user", default="replica", show_default=True)
@click.option(
    "--replica-password",
    envvar="PINWAY_REPLICA_PASSWORD",
    default="",
    help="Slaves log in with it. `pinway stack` keeps it in secrets.json.",
)
@with_settings
def attach_command(
    settings: Settings, host: str, master: str | None, replica_user: str, replica_password: str
) -> None:
    """Make HOST the slave of a master without one. Rows that only HOST has are deleted."""

    async def attach(work: Work) -> None:
        from datasources.mysql.replication.attaching import Attachment, Replica

        topologies.check_server(work.topology, host)
        over = master or topologies.lone_master(work.topology, host)
        require_replica_password(replica_password)
        attachment = Attachment(
            work.admin(over),
            work.admin(over),
            work.admin(host),
            Replica(replica_user, replica_password),
            tell=click.echo,
        )
        following = topologies.with_slave(work.topology, over, host)
        await attachment.run()
        await work.save(following)

    run(settings, f"attach {host}", attach)


@shards.command("detach")
@click.argument("host")
@with_settings
def detach_command(settings: Settings, host: str) -> None:
    """Let the master of slave HOST continue alone. Until then the master's writes wait for HOST."""

    async def leave(work: Work) -> None:
        from datasources.mysql.replication.attaching import detach

        over = topologies.master_over(work.topology, host)
        following = topologies.with_slave(work.topology, over, None)
        await work.save(following)
        await detach(work.admin(over), following.epoch, click.echo)

    run(settings, f"detach {host}", leave)


def asdict_range(shards: Any) -> dict[str, Any]:
    return {"range": list(shards.range), "master": shards.master, "slave": shards.slave}

"""`pinway shards backup`, `restore` and `replay`: physical backups of the shards' servers."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import click

from datasources.replication import topologies
from gateway.cli.options import with_settings
from gateway.cli.shards.operation import run
from gateway.operate.failover.work import Work
from gateway.settings import Settings

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("backup")
@click.argument("host")
@click.option("--to", "folder", type=FOLDER, required=True, help="The backup's folder.")
@click.option("--logs", is_flag=True, help="Add the binary logs since the backup in this folder.")
@with_settings
def backup_command(settings: Settings, host: str, folder: Path, logs: bool) -> None:
    """Copy slave HOST into a new folder, or archive its binary logs there.

    Run it on HOST: it reads the server's files, with `mariadb-backup`.
    """

    async def back_up(work: Work) -> None:
        from datasources.mysql.replication import physical

        topologies.check_server(work.topology, host)
        act = physical.archive if logs else physical.back_up
        await act(work.admin(host), folder, click.echo)

    run(settings, None, back_up)


@click.command("restore")
@click.argument("folder", type=FOLDER)
@click.option("--to", "data", type=FOLDER, required=True, help="An empty data directory.")
def restore_command(folder: Path, data: Path) -> None:
    """Make a server's data directory from the backup in FOLDER, after each file was checked.

    Then start the server with it, and run `replay`.
    """
    from datasources.mysql.replication import physical

    asyncio.run(physical.restore(folder, data, click.echo))


@click.command("replay")
@click.argument("folder", type=FOLDER)
@click.option("--on", "host", required=True, metavar="HOST", help="The server that was restored.")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]),
    help="The moment in UTC, like 2026-01-31T12:00:00; by default the end of the logs.",
)
@with_settings
def replay_command(settings: Settings, folder: Path, host: str, until: datetime | None) -> None:
    """Apply the binary logs of the backup in FOLDER to a restored server, up to a moment.

    Then `attach HOST` makes it a slave; if its pair is lost, `promote HOST --restored` makes it the
    master.
    """

    async def replay(work: Work) -> None:
        from datasources.mysql.replication import physical

        topologies.check_server(work.topology, host)
        moment = None if until is None else until.replace(tzinfo=UTC)
        await physical.replay(work.admin(host), folder, moment, click.echo)

    run(settings, None, replay)

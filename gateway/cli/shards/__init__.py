"""`pinway shards` with all of its commands."""

import click

from gateway.cli.shards import backups, failover, moves, servers


@click.group("shards")
def shards() -> None:
    """The shards' servers: see them, open ranges, promote slaves."""


for command in (
    servers.show_command,
    servers.check_command,
    servers.add_command,
    servers.remove_command,
    servers.open_command,
    servers.attach_command,
    servers.detach_command,
    failover.promote_command,
    failover.resume_command,
    failover.watch_command,
    moves.move_command,
    moves.verify_command,
    moves.rollback_command,
    moves.close_command,
    backups.backup_command,
    backups.restore_command,
    backups.replay_command,
):
    shards.add_command(command)

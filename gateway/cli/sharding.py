"""`pinway shards` with all of its commands."""

from gateway.cli import shard_backups
from gateway.cli.moves import close_command, move_command, rollback_command, verify_command
from gateway.cli.resuming import resume_command
from gateway.cli.shards import shards
from gateway.cli.watching import watch_command

__all__ = ["shards"]

for command in (
    *(move_command, verify_command, rollback_command, close_command),
    *(resume_command, watch_command, shard_backups.backup_command),
    *(shard_backups.restore_command, shard_backups.replay_command),
):
    shards.add_command(command)

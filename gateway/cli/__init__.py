"""The `pinway` command line."""

import sys
from typing import Any

import click

from datasources.errors import PinwayError
from deploy.stack.cli import stack
from gateway.cli import shard_backups
from gateway.cli.backup import backup_command, restore_command
from gateway.cli.completion import completion_command
from gateway.cli.data import export_command, import_command
from gateway.cli.feed import feed
from gateway.cli.jobs import jobs
from gateway.cli.moves import close_command, move_command, rollback_command, verify_command
from gateway.cli.operating import config, doctor_command, plan_command
from gateway.cli.resuming import resume_command
from gateway.cli.serving import init_command, run_command, serve_command, worker_command
from gateway.cli.shards import shards
from gateway.cli.tools import schema, token_command
from gateway.cli.watching import watch_command
from gateway.interrupted import stopping


class Commands(click.Group):
    """A group whose commands' own errors are one line on standard error with exit status 1. Ctrl-C
    gives one line, too, with exit status 130."""

    def invoke(self, context: click.Context) -> Any:
        try:
            with stopping():
                return super().invoke(context)
        except PinwayError as error:
            click.echo(f"pinway: {error}", err=True)
            sys.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pinway")
def main() -> None:
    """Pinway: a GraphQL gateway over sharded objects, cached mappings and raced feeds.

    Exit status: 0 done; 1 an error, told in a line; 2 a wrong command line; 3 faults were found
    (`doctor`, `schema check`, `shards check`, `shards verify`, `stack status`); 130 interrupted by
    Ctrl-C. A server (`run`, `serve`, `worker`, `shards watch`) that Ctrl-C or SIGTERM stops ends
    with 0.
    """


for command in (
    *(move_command, verify_command, rollback_command, close_command),
    *(resume_command, watch_command, shard_backups.backup_command),
    *(shard_backups.restore_command, shard_backups.replay_command),
):
    shards.add_command(command)

for command in (
    run_command,
    serve_command,
    worker_command,
    init_command,
    token_command,
    import_command,
    export_command,
    schema,
    feed,
    jobs,
    doctor_command,
    config,
    plan_command,
    backup_command,
    restore_command,
    shards,
    stack,
    completion_command,
):
    main.add_command(command)

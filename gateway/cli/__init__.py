"""The `pinway` command line."""

import sys
from typing import Any

import click

from datasources.errors import PinwayError
from deploy.stack.cli import stack
from gateway.cli.backup import backup_command, restore_command
from gateway.cli.completion import completion_command
from gateway.cli.data import export_command, import_command
from gateway.cli.feed import feed
from gateway.cli.jobs import jobs
from gateway.cli.serving import init_command, run_command, serve_command
from gateway.cli.shards import shards
from gateway.cli.tools import schema_command, token_command


class Commands(click.Group):
    """A group whose commands' own errors are one line on standard error, and exit status 1."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except PinwayError as error:
            click.echo(f"pinway: {error}", err=True)
            sys.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pinway")
def main() -> None:
    """Pinway: a GraphQL gateway over sharded objects, cached mappings and raced feeds."""


for command in (
    run_command,
    serve_command,
    init_command,
    token_command,
    import_command,
    export_command,
    schema_command,
    feed,
    jobs,
    backup_command,
    restore_command,
    shards,
    stack,
    completion_command,
):
    main.add_command(command)

"""`pinway token` and `schema`."""

import sys
from pathlib import Path

import click

from datasources.errors import ConfigError
from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, print_result
from gateway.operate.progress import run_reporting_waits
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made


@click.command("token")
@click.argument("username")
@as_json
@with_settings
def token_command(settings: Settings, username: str, as_json: bool) -> None:
    """Print a bearer token for a user; a gateway may run on the stores."""
    check_made(settings)
    request = {"command": "token", "username": username}
    found = run_reporting_waits(answer(settings, request, lambda progress: None))
    print_result(found, found["token"], as_json=as_json)


@click.group("schema", invoke_without_command=True)
@click.option("--subgraph", is_flag=True, help="With the keys of a federation's entities.")
@click.pass_context
def schema(context: click.Context, subgraph: bool) -> None:
    """Print the GraphQL schema."""
    if context.invoked_subcommand is None:
        from schema import federation
        from schema import schema as served

        click.echo(federation.sdl() if subgraph else served.as_str())


@schema.command("check")
@click.argument("old", type=click.Path(path_type=Path, dir_okay=False))
@as_json
def check_command(old: Path, as_json: bool) -> None:
    """Compare the schema with the one in OLD, printed by an older version.

    The exit status is 3 when a client of the older schema could break.
    """
    from gateway.operate.schema_changes import changes
    from schema import schema as served

    try:
        before = old.read_text()
    except OSError as error:
        raise ConfigError(f"can't read {old}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"can't read {old}: it is no text") from None
    found = changes(before, served.as_str())
    words = [f"breaking: {change}" for change in found.breaking]
    words += [f"may surprise: {change}" for change in found.dangerous]
    changed = counted(len(found.breaking), "breaking change")
    words.append(f"{changed}, {len(found.dangerous):,} that may surprise")
    print_result(found._asdict(), words, as_json=as_json)
    sys.exit(FOUND if found.breaking else 0)

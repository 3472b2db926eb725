"""`pinway token` and `schema`."""

import asyncio

import click

from gateway.cli.options import with_settings
from gateway.cli.output import as_json, tell
from gateway.embedded import check_made
from gateway.operating.requests import answer
from gateway.settings import Settings
from schema import schema


@click.command("token")
@click.argument("username")
@as_json
@with_settings
def token_command(settings: Settings, username: str, as_json: bool) -> None:
    """Print a bearer token for a user; a gateway may run on the stores."""
    check_made(settings)
    request = {"command": "token", "username": username}
    found = asyncio.run(answer(settings, request, lambda progress: None))
    tell(found, found["token"], as_json=as_json)


@click.command("schema")
def schema_command() -> None:
    """Print the GraphQL schema."""
    click.echo(schema.as_str())

"""`pinway token` and `schema`."""

import asyncio

import click

from datasources.errors import NotFound
from gateway.auth import Tokens
from gateway.cli.options import with_settings
from gateway.embedded import check_made
from gateway.runtime import running
from gateway.settings import Settings
from schema import schema


@click.command("token")
@click.argument("username")
@with_settings
def token_command(settings: Settings, username: str) -> None:
    """Print a bearer token for a user."""
    click.echo(asyncio.run(_token(settings, username)))


async def _token(settings: Settings, username: str) -> str:
    check_made(settings)
    async with running(settings, jobs=False) as runtime:
        found = await runtime.stores.shards.mod.find("username", [username.lower()])
        if username.lower() not in found:
            raise NotFound(f"there is no user {username!r}")
        tokens = Tokens(settings.secret, settings.token_hours)
        return tokens.issue(found[username.lower()])


@click.command("schema")
def schema_command() -> None:
    """Print the GraphQL schema."""
    click.echo(schema.as_str())

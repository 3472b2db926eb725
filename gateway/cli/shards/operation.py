"""Runs an operation on the shards' servers, and prints its steps; the options of such commands."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import click

from datasources.errors import ConfigError
from datasources.replication.accounts import Replica
from datasources.replication.steps import Tell
from gateway.cli.options import Command, with_parameters_of
from gateway.operate.failover.work import Work, means
from gateway.settings import Settings


def run(
    settings: Settings,
    purpose: str | None,
    act: Callable[[Work], Awaitable[None]],
    tell: Tell = click.echo,
) -> None:
    """Do an operation. An operation with a purpose changes the topology, and holds its lock."""

    async def work() -> None:
        async with means(settings, purpose, tell) as found:
            await act(found)

    asyncio.run(work())


def with_replica(command: Command) -> Command:
    """Adds the options --replica-user and --replica-password. Passes both as `replica`."""

    @click.option("--replica-user", default="replica", show_default=True)
    @click.option(
        "--replica-password",
        envvar="PINWAY_REPLICA_PASSWORD",
        default="",
        help="Servers log in to each other with it. `pinway stack` keeps it in secrets.json.",
    )
    def wrapped(replica_user: str, replica_password: str, **given: Any) -> Any:
        return command(replica=Replica(replica_user, replica_password), **given)

    return with_parameters_of(command, wrapped)


def require_password(replica: Replica) -> None:
    """Raises ConfigError without the password with which servers log in to each other."""
    if not replica.password:
        raise ConfigError(
            "the password with which servers log in to each other is missing: give "
            "--replica-password or set PINWAY_REPLICA_PASSWORD (`pinway stack` keeps it in "
            "secrets.json, as replica_password)"
        )

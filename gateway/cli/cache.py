"""`pinway cache`: shows and changes the memcached servers while gateways run."""

from collections.abc import Mapping
from typing import Any

import click

from datasources.cache_lists import addresses_of, text_of
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result
from gateway.cli.shards.operation import run
from gateway.operate import cache_servers
from gateway.operate.failover.work import Work
from gateway.settings import Settings


@click.group("cache")
def cache() -> None:
    """The memcached servers of the cache of objects."""


@cache.command("show")
@as_json
@with_settings
def show_command(settings: Settings, as_json: bool) -> None:
    """Show the list of servers in use, and the change that goes on."""
    cache_servers.addresses_in(settings)

    async def show(work: Work) -> None:
        found = cache_servers.shown(work.topology, settings)
        print_result(found, lines(found), as_json=as_json)

    run(settings, None, show)


@cache.command("servers")
@click.argument("servers", metavar="HOST:PORT[,HOST:PORT]")
@click.option("--force", is_flag=True, help="Also if a server that comes in does not answer.")
@with_settings
def servers_command(settings: Settings, servers: str, force: bool) -> None:
    """Change the list of memcached servers in all running gateways.

    A command that was interrupted is run again with the same list, and goes on. `rollback` takes
    it back instead, until gateways read by the new list.
    """
    addresses = addresses_of(servers)
    cache_servers.check(settings)

    async def change(work: Work) -> None:
        await cache_servers.change(work, addresses, force=force)

    run(settings, "change the memcached servers", change)


@cache.command("rollback")
@with_settings
def rollback_command(settings: Settings) -> None:
    """Take a change of the list back that has begun: gateways have not read by the new list."""
    cache_servers.check(settings)
    run(settings, "take the change of the memcached servers back", cache_servers.rollback)


def lines(found: Mapping[str, Any]) -> list[str]:
    """The state of the list as text."""
    told = [f"list {found['list']} of the {found['from']}: {text_of(found['servers'])}"]
    other, step = found["other"], found["step"]
    if other is not None:
        wanted = other if step == "begun" else found
        told.append(
            f"a change to list {wanted['list']} has {step}; entries are removed by list "
            f"{other['list']}, too: {text_of(other['servers'])}"
        )
        told.append(found["next"])
    if sorted(found["settings"]) != sorted(found["servers"]):
        told.append(f"the settings name others: {text_of(found['settings'])}")
    return told

"""Opens the topology and the shards alone, without caches, queue and feed stores: beside a gateway
that has embedded stores open, too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from datasources.factory import ShardsConfig, open_shards, open_topology
from datasources.protocols import ShardStore
from datasources.topology_watch import Followed
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made, topology_url


def shards_config(settings: Settings) -> ShardsConfig:
    """The shards of these settings. Raises ConfigError if the embedded ones were not created."""
    check_made(settings)
    return ShardsConfig(
        topology=topology_url(settings),
        mysql_user=settings.mysql.user,
        mysql_password=settings.mysql.password,
        mysql_ca=settings.mysql.ca,
    )


@asynccontextmanager
async def opened_shards(config: ShardsConfig) -> AsyncIterator[ShardStore]:
    """The shards. Raises ConfigError and StoreError."""
    source = open_topology(config.topology)
    try:
        shards = open_shards(await source.load(), config)
        Followed(source, shards)  # a shard that has moved is found again
        try:
            yield shards
        finally:
            await shards.close()
    finally:
        await source.close()

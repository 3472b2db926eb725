"""Data of the real servers that was made and is missing: a gateway does not start on it."""

from pathlib import Path
from urllib.parse import urlsplit

import pymysql
import pytest

from datasources.errors import ConfigError, Damaged
from datasources.hbase import HBaseWideColumns
from deploy.stack import Stack
from gateway.settings import Settings, changed
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.real.configurations import first_shard, real_settings
from tests.servers import mysql_servers

pytestmark = pytest.mark.anyio


def drop_database(stack: Stack, server: str, name: str) -> None:
    url = urlsplit(mysql_servers(stack)[server])
    with pymysql.connect(
        host=url.hostname,
        port=url.port or 3306,
        user=stack.settings["mysql.user"],
        password=stack.settings["mysql.password"],
    ) as connection:
        connection.cursor().execute(f"DROP DATABASE {name}")


async def start(settings: Settings) -> None:
    async with running(settings, jobs=False):
        pass


async def make(settings: Settings, *accepted: str) -> None:
    await install(settings, lambda progress: None, accept_loss=accepted)


async def test_a_gateway_starts_on_what_was_made_and_is_whole(stack: Stack, tmp_path: Path) -> None:
    first = first_shard(stack)
    settings = real_settings(stack, tmp_path, first)
    with pytest.raises(ConfigError, match=r"were never made: run `pinway init` first"):
        await start(settings)
    await make(settings)
    await start(settings)

    drop_database(stack, "MySQL001A", f"db{first + 3:05d}")
    for again in (start, make):
        with pytest.raises(Damaged, match=rf"db{first + 3:05d} at mysql://.*--accept-loss shards"):
            await again(settings)
    await make(settings, "shards")
    await start(settings)


async def test_a_side_of_another_cluster_that_has_no_tables_is_missing(
    stack: Stack, tmp_path: Path
) -> None:
    settings = real_settings(stack, tmp_path, first_shard(stack))
    await make(settings)
    elsewhere = changed(settings, {"stores.feeds_standby": f"{settings.stores.feeds_standby}other"})
    with pytest.raises(Damaged, match=r"feeds_standby at hbase://.*--accept-loss feeds_standby"):
        await start(elsewhere)
    parts = urlsplit(settings.stores.feeds_standby)
    store = HBaseWideColumns(parts.hostname or "", parts.port or 0, prefix=parts.path[1:] + "_")
    assert "pinway_following" in await store.tables()
    await store.close()


async def test_a_server_that_is_down_does_not_keep_a_gateway_from_starting(
    stack: Stack, tmp_path: Path
) -> None:
    settings = real_settings(stack, tmp_path, first_shard(stack))
    await make(settings)
    away = changed(settings, {"stores.feeds_standby": "hbase://127.0.0.1:1/away"})
    await start(away)

"""Blocks over SQLite and MySQL: each of the two users' shards has the block as soon as it is
acknowledged, and a follow at the same time leaves no trace."""

import asyncio
from pathlib import Path

import pytest

from datasources.errors import NotFound
from datasources.mappings import Edge, EdgeKey, Mapping
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks
from tests.contract.shards import Deployment
from tests.contract.test_preferences import new_users
from tests.embedded_stores import drain, embedded_config, embedded_stores, valkey

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


async def test_a_block_can_be_read_on_both_shards_as_soon_as_it_is_acknowledged(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        ann, cat = await new_users(shards, deployment.shard(4), 2)
        [bob] = await new_users(shards, deployment.shard(6), 1)
        for key in ("first", "first", None):
            await writes.block_user(stores, ann, bob, key=key)
            assert await blocks.read(stores, ann) == Blocks(frozenset({bob}))
            assert await blocks.read(stores, bob) == Blocks(frozenset({ann}))
        await writes.block_user(stores, cat, bob)
        assert await blocks.read(stores, bob) == Blocks(frozenset({ann, cat}))
        await writes.unblock_user(stores, ann, bob)
        assert await blocks.read(stores, ann) == blocks.NONE
        assert await blocks.read(stores, bob) == Blocks(frozenset({cat}))


async def test_of_blocks_and_follows_at_the_same_time_no_follow_remains(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        for other in (4, 6):  # the same shard, and another
            [ann] = await new_users(shards, deployment.shard(4), 1)
            for bob in await new_users(shards, deployment.shard(other), 5):
                done = await asyncio.gather(
                    writes.follow(stores, ann, bob),
                    writes.block_user(stores, ann, bob),
                    writes.follow(stores, bob, ann),
                    return_exceptions=True,
                )
                assert all(isinstance(it, Edge | NotFound) for it in done), done
                await drain(stores)
                keys = [
                    EdgeKey(mapping, *ends)
                    for mapping in (Mapping.USER_FOLLOWS_USERS, Mapping.USER_FOLLOWED_BY_USERS)
                    for ends in ((ann, bob), (bob, ann))
                ]
                found = await shards.mappings.edges(keys)
                assert not [edge for edge in found.values() if edge.active]

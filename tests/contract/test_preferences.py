"""Preferences for the home feed: their rows over SQLite and MySQL, and what they do to visits over
RocksDB and two real HBase clusters."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds import preferences
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import FeedSettings, Preferences
from tests.contract.shards import Deployment
from tests.contract.test_seen import stores
from tests.embedded_stores import embedded_config, embedded_stores, valkey
from tests.feeds import Feeding, pins_of

__all__ = ["stores", "valkey"]
pytestmark = pytest.mark.anyio


async def new_users(shards: SqlShards, shard: int, count: int) -> list[int]:
    async def work(tx: ShardTx) -> list[int]:
        users = [User(username=f"user{n}", created=1) for n in range(count)]
        return [await tx.insert(Kind.USER, msgspec.json.encode(user)) for user in users]

    return await shards.objects.transact(shard, work)


async def test_a_preference_can_be_read_as_soon_as_it_is_acknowledged(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        viewer, *others = await new_users(shards, deployment.shard(4), 4)
        for id in others:
            await writes.see_less(stores, viewer, id, key=f"less {id}")
            assert id in (await preferences.read(stores, viewer)).less
        await writes.see_more(stores, viewer, others[0])
        await writes.see_as_usual(stores, viewer, others[1])
        for id in others:
            await writes.mute_user(stores, viewer, id, key=f"mute {id}")
            assert id in (await preferences.read(stores, viewer)).muted
        await writes.unmute_user(stores, viewer, others[0])
        expected = Preferences(
            less=frozenset(others[2:]), more=frozenset(others[:1]), muted=frozenset(others[1:])
        )
        assert await preferences.read(stores, viewer) == expected
        assert await writes.see_less(stores, viewer, others[1], key=f"less {others[1]}")
        assert await preferences.read(stores, viewer) == expected


async def test_of_less_and_more_at_the_same_time_one_holds(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        viewer, other = await new_users(shards, deployment.shard(5), 2)
        for _ in range(5):
            await asyncio.gather(
                writes.see_less(stores, viewer, other), writes.see_more(stores, viewer, other)
            )
            found = await preferences.read(stores, viewer)
            assert len(found.less) + len(found.more) == 1
        keys = [ListKey(m, viewer) for m in (Mapping.USER_SEES_LESS, Mapping.USER_SEES_MORE)]
        assert sum(head.size for head in (await shards.mappings.heads(keys)).values()) == 1


async def test_hiding_and_seeing_less_hold_for_every_page_on_both_feed_stores(
    stores: Stores,
) -> None:
    feeding = Feeding(stores)
    feeding.settings = FeedSettings(chunk=25, generator_seconds=60)
    viewer = await feeding.user()
    owners = [await feeding.user() for _ in range(3)]
    for owner in owners:
        await feeding.follow(viewer, owner.id)
        await feeding.pins(await feeding.board(owner), 10)
    await feeding.drain()
    page = await feeding.home(viewer, first=25)
    hidden, lower = page.items[1].pin, owners[-1].id
    await writes.hide_pin(stores, viewer.id, hidden.id)
    await writes.see_less(stores, viewer.id, lower)
    for drained in (False, True):
        if drained:
            await feeding.drain()
        visits = [
            await feeding.home(viewer, first=25, visit=page.visit),
            await feeding.home(viewer, first=25),
        ]
        for visit in visits:
            shown = [item.pin for item in visit.items]
            assert hidden.id not in {pin.id for pin in shown}
            assert sum(pin.owner_id == lower for pin in shown) <= 1
            assert hidden.id not in await feeding.rest_of(viewer, visit, first=25)
    await writes.unhide_pin(stores, viewer.id, hidden.id)
    await writes.see_as_usual(stores, viewer.id, lower)
    again = await feeding.home(viewer, first=25, visit=page.visit)
    assert pins_of(again) == pins_of(page)
    assert any(item.reason is not Reason.SHOWN_BEFORE for item in again.items)


async def test_a_mute_holds_for_every_page_of_both_feeds_on_both_feed_stores(
    stores: Stores,
) -> None:
    feeding = Feeding(stores)
    feeding.settings = FeedSettings(chunk=10, generator_seconds=60)
    viewer = await feeding.user()
    muted, other = [await feeding.user() for _ in range(2)]
    made: dict[int, set[int]] = {}
    for owner in (muted, other):
        await feeding.follow(viewer, owner.id)
        made[owner.id] = {pin.id for pin in await feeding.pins(await feeding.board(owner), 30)}
    await feeding.drain()
    page = await feeding.home(viewer, first=10)
    following = pins_of(await feeding.following(viewer, first=60))
    assert made[muted.id] & {*pins_of(page)}
    assert {*following} == made[muted.id] | made[other.id]
    await writes.mute_user(stores, viewer.id, muted.id)
    for drained in (False, True):
        if drained:
            await feeding.drain()
        visits = [
            await feeding.home(viewer, first=10, visit=page.visit),
            await feeding.home(viewer, first=10),
        ]
        for visit in visits:
            shown = {*pins_of(visit), *await feeding.rest_of(viewer, visit, first=10)}
            assert not shown & made[muted.id]
        new = [item for item in visits[1].items if item.reason is not Reason.SHOWN_BEFORE]
        assert len(new) == 10, "others take the places of muted users' pins"
        assert {*pins_of(await feeding.following(viewer, first=60))} == made[other.id]
    await writes.unmute_user(stores, viewer.id, muted.id)
    again = await feeding.home(viewer, first=10, visit=page.visit)
    assert pins_of(again) == pins_of(page)
    assert pins_of(await feeding.following(viewer, first=60)) == following

"""Keys of users over SQLite and MySQL: sign-ups by a subject, e-mail addresses and links, by one
user and by many at once."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import Conflict
from datasources.ids import Kind
from datasources.protocols import Job, Stores
from datasources.records import User, decode
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import EMAIL, SUBJECT, KeyKind, subject_key
from tests.contract.test_user_names import drain, rows_of
from tests.embedded_stores import embedded_config, embedded_stores, valkey
from tests.seams import Killed, Seam

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


class Site:
    """The stores, and names that no other test uses: all tests share the servers."""

    def __init__(self, stores: Stores, left: set[Job]) -> None:
        self.stores, self._left = stores, left
        self.tag = uuid.uuid4().hex[:10]
        self.subject = subject_key("https://id.example/", self.tag)

    async def sign_up(self, name: str, subject: str | None = None) -> User:
        new = writes.NewUser(username=f"{name}.{self.tag}")
        return await writes.sign_up(self.stores, new, subject=subject)

    async def holder(self, kind: KeyKind, key: str) -> int | None:
        return (await self.stores.shards.mod.find(kind.namespace, [key])).get(key)

    async def of_subject(self) -> list[User]:
        """The active users with the subject."""
        found = await self.stores.shards.objects.list(Kind.USER, 0, 100_000)
        # Other tests leave users that can't be decoded.
        users = [decode(Kind.USER, id, data) for id, data in found if self.tag.encode() in data]
        return [
            it for it in users if isinstance(it, User) and it.active and it.subject == self.subject
        ]

    async def drain(self) -> None:
        await drain(self.stores, self._left)


@pytest.fixture
async def site(shards: SqlShards, valkey: ValkeyServer, tmp_path: Path) -> AsyncIterator[Site]:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        yield Site(stores, await rows_of(stores))


def email(stores: Stores, user: User, address: str | None) -> Awaitable[User]:
    return writes.change_email(stores, user.id, writes.EmailChange(email=address))


def subject(stores: Stores, user: User, key: str | None) -> Awaitable[User]:
    return writes.change_subject(stores, user.id, writes.SubjectChange(subject=key))


async def test_of_sign_ups_of_a_subject_at_once_one_makes_a_user(site: Site) -> None:
    names = ["ann", "ann", "ann.b", "ann.c", "ann", "ann.b"]
    found = await asyncio.gather(
        *(site.sign_up(name, site.subject) for name in names), return_exceptions=True
    )
    assert all(isinstance(it, User | Conflict) for it in found), found
    await site.drain()
    [user] = await site.of_subject()
    assert {it.id for it in found if isinstance(it, User)} == {user.id}
    assert await site.holder(SUBJECT, site.subject) == user.id
    keys = [f"{name}.{site.tag}" for name in {*names}]
    assert await site.stores.shards.mod.find("username", keys) == {user.username: user.id}


@pytest.mark.parametrize(("seam", "number"), [("transact", 1), ("claim_at", 1), ("claim_at", 2)])
async def test_a_sign_up_that_is_killed_between_shards_is_completed(
    site: Site, seam: str, number: int
) -> None:
    async def die() -> None:
        raise Killed

    whole, stores = site.stores, Seam(seam, number, die).of(site.stores, after=True)
    site.stores = stores
    with pytest.raises(Killed):
        await site.sign_up("ann", site.subject)
    site.stores = whole
    await site.drain()
    [user] = await site.of_subject()
    assert (await site.sign_up("ann", site.subject)).id == user.id
    assert await site.holder(SUBJECT, site.subject) == user.id


@pytest.mark.parametrize(("kind", "give"), [(EMAIL, email), (SUBJECT, subject)])
async def test_of_many_who_want_one_key_one_gets_it_until_it_is_free(
    site: Site, kind: KeyKind, give: Any
) -> None:
    key = site.subject if kind is SUBJECT else f"{site.tag}@x.org"
    users = [await site.sign_up(f"u{number}") for number in range(5)]

    async def want(user: User) -> None:
        with suppress(Conflict):
            await give(site.stores, user, key)

    await asyncio.gather(*map(want, users))
    now = await access.read(site.stores, User, [user.id for user in users])
    [owner] = [user for user in now.values() if kind.key_of(user) == key]
    assert await site.holder(kind, key) == owner.id
    await give(site.stores, owner, None)
    other = next(user for user in users if user.id != owner.id)
    with pytest.raises(Conflict):
        await give(site.stores, other, key)
    await site.drain()  # also the work of 30 days later
    assert await site.holder(kind, key) is None
    await give(site.stores, other, key)
    assert await site.holder(kind, key) == other.id

"""A model of users' keys in random schedules with crashes between the shards, repeated jobs and
late steps: no key has two owners, no user's key has none, and no subject has two users."""

import asyncio
import contextlib
from collections.abc import Awaitable
from random import Random
from typing import Any

import pytest

from datasources.clocks import now_ms
from datasources.errors import RequestError, StoreError
from datasources.ids import Kind
from datasources.protocols import OutboxRow, Stores
from datasources.records import User, decode
from feed_engine import writes
from feed_engine.outbox.change import KeyEnded
from feed_engine.outbox.completion import change_of, fulfill, settle
from feed_engine.outbox.tasks import HANDLERS
from feed_engine.times import DAY
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import EMAIL, KINDS, SUBJECT, USERNAME, subject_key
from tests.embedded_stores import drain
from tests.people import People
from tests.scale import seeds
from tests.seams import Killed, Steps
from tests.stores.feed_engine.writes.test_user_names import people, stores

__all__ = ["people", "stores"]
pytestmark = pytest.mark.anyio
KEYS = {
    USERNAME: [f"model.{letter}" for letter in "abcde"],
    EMAIL: [f"{letter}@model.example" for letter in "abc"],
    SUBJECT: [subject_key("https://id.example/", letter) for letter in "abc"],
}


class Model:
    """Users who change their keys, sign up and leave, with the jobs of all of it."""

    def __init__(self, stores: Stores, random: Random) -> None:
        self.stores, self.random = stores, random
        self.users: dict[int, User] = {}  # whose sign-up was acknowledged
        self.rows: list[OutboxRow] = []  # all that were ever seen, to be run again
        self.keys = 0
        self.sent: list[tuple[User, Any, str]] = []

    def step(self, gated: Stores) -> Awaitable[Any]:
        """A random write or job."""
        kind, random = self.random.random(), self.random
        if kind < 0.5 and self.users:
            if self.sent and random.random() < 0.3:
                user, given, key = random.choice(self.sent)
            else:
                self.keys += 1
                user, given = random.choice([*self.users.values()]), self._wanted()
                key = f"key {self.keys}"
                self.sent.append((user, given, key))
            return self._change(gated, user, given, key)
        if kind < 0.65:
            return self._sign_up(gated)
        if kind < 0.68 and len(self.users) > 3:
            return self._delete(gated, self.users.pop(random.choice([*self.users])))
        if self.rows:
            return self._job(gated, random.choice(self.rows))
        return self._sign_up(gated)

    def _wanted(self) -> Any:
        random = self.random
        kind = random.choice([*KEYS])
        key = random.choice(KEYS[kind])
        if kind is USERNAME:
            return writes.NameChange(username=key)
        removes = random.random() < 0.3
        if kind is EMAIL:
            return writes.EmailChange(email=None if removes else key)
        return writes.SubjectChange(subject=None if removes else key)

    async def _change(self, gated: Stores, user: User, given: Any, key: str) -> None:
        if isinstance(given, writes.NameChange):
            await writes.change_user_name(gated, user.id, given, key=key)
        elif isinstance(given, writes.EmailChange):
            await writes.change_email(gated, user.id, given, key=key)
        else:
            await writes.change_subject(gated, user.id, given, key=key)

    async def _sign_up(self, gated: Stores) -> None:
        subject = self.random.choice([None, *KEYS[SUBJECT]])
        new = writes.NewUser(username=self.random.choice(KEYS[USERNAME]))
        user = await writes.sign_up(gated, new, subject=subject)
        assert subject in (None, user.subject)
        self.users[user.id] = user

    async def _delete(self, gated: Stores, user: User) -> None:
        now = (await access.recall(self.stores, User, user.id)).username
        await writes.delete_account(gated, user.id, writes.Deletion(username=now))

    async def job(self, row: OutboxRow) -> None:
        """Run a row, whether it is due, or was finished before."""
        await self._job(self.stores, row)

    async def _job(self, gated: Stores, row: OutboxRow) -> None:
        change = change_of(row)
        await fulfill(gated, change)

        async def advance(_: bytes) -> None:
            pass

        for task in change.tasks:
            if isinstance(task, KeyEnded):
                await HANDLERS["KeyEnded"](gated, task, None, advance)

    async def active(self) -> list[User]:
        """All users, also users whose sign-up was killed before its answer."""
        found = await self.stores.shards.objects.list(Kind.USER, 0, 1000)
        users = [decode(Kind.USER, id, data) for id, data in found]
        return [user for user in users if isinstance(user, User) and user.active]

    async def check(self) -> None:
        """No key has two owners, and no key of a user has none."""
        await settle()
        known = {(row.shard, row.id) for row in self.rows}
        pending = await self.stores.shards.outbox.pending(2**62, 1000)
        self.rows += [row for row in pending if (row.shard, row.id) not in known]
        users = [user for user in await self.active() if user.id in self.users]
        assert len(users) == len(self.users), "a user was deactivated"
        soon = now_ms() + DAY
        for kind, keys in KEYS.items():
            holders = await self.stores.shards.mod.find(kind.namespace, keys)
            own = [kind.key_of(user) for user in users if kind.key_of(user)]
            assert len({*own}) == len(own), "a key with two owners"
            for user in users:
                kept = [it.key for it in kind.kept_of(user) if not it.ending and it.until > soon]
                for key in (kind.key_of(user), *kept):
                    assert not key or holders.get(key) == user.id, user


@pytest.mark.parametrize("seed", seeds(8, 400))
async def test_a_key_never_has_two_owners_and_a_users_key_never_none(
    stores: Stores, people: People, seed: int
) -> None:
    random = Random(seed)
    model = Model(stores, random)
    for _ in range(30):
        steps = Steps(random, random.choice([0, 0.1, 0.3]))
        gated = steps.of(stores)

        async def run(gated: Stores = gated) -> None:
            with contextlib.suppress(Killed, RequestError, StoreError):
                await model.step(gated)

        await steps.run([asyncio.create_task(run()) for _ in range(random.randint(1, 4))])
        await model.check()
    await drain(stores)
    for row in model.rows:  # all rows run again, after their time
        await model.job(row)
    await model.check()
    users = await model.active()
    for kind in KINDS.values():
        owned = {kind.key_of(user): user.id for user in users if kind.key_of(user)}
        held = await stores.shards.mod.find(kind.namespace, KEYS[kind])
        assert held == owned, "a claim without a user"
        assert len(owned) == sum(1 for user in users if kind.key_of(user))
        assert all(kind.kept_of(user) == () for user in users)

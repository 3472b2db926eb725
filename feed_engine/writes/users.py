"""Signing up: a user, and the user name that nobody else has."""

import hashlib

from datasources import records
from datasources.errors import Conflict
from datasources.ids import Kind, shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.outbox.change import change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, now_ms
from feed_engine.transactions.inputs import NewUser
from feed_engine.transactions.validation import unguessable_key

NAMESPACE = "username"  # of the claims
NOBODY = 0  # whose keys those are who have no id yet


async def sign_up(
    stores: Stores, new: NewUser, *, key: str | None = None, at: int | None = None
) -> User:
    """A new user. `at` is epoch ms, now by default.

    The user is stored first and claims the name then; a user that comes second is made inactive.
    Raises BadInput, or Conflict when the name is taken, also by an earlier sign-up without a key.
    """
    new = new.checked()
    unguessable_key(key)
    holders = await stores.shards.mod.find(NAMESPACE, [new.username])
    holder = holders.get(new.username)
    # A key is scoped by the name, and its answer lies where the name's holder does, also when
    # shards were opened since.
    shard = shard_of(holder) if holder else stores.shards.objects.topology().place(new.username)
    scoped = hashlib.sha256(f"{new.username}\n{key}".encode()).hexdigest() if key else None

    async def free() -> None:
        if holder is not None:
            raise _taken(new.username)

    async def work(tx: ShardTx, _: None) -> Outcome[int]:
        user = User(
            created=at if at is not None else now_ms(),
            username=new.username,
            full_name=new.full_name,
            about=new.about,
            avatar=new.avatar,
        )
        id = await tx.insert(Kind.USER, records.encode(user))
        # No cache can have an object that is new, so a cache that fails does not fail the sign-up.
        following = change(claims=[(NAMESPACE, new.username, id)])
        return Outcome(id, Saved(id=id), following)

    async def again(saved: Saved) -> int:
        return saved.id

    mutation = Mutation("signUp", shard, NOBODY, scoped, new)
    user = await access.recall(stores, User, await mutate(stores, mutation, free, work, again))
    if not user.active:
        raise _taken(new.username)
    return user


def _taken(username: str) -> Conflict:
    return Conflict(f"The user name {username} is taken: choose another.", "username")

"""Sign-ups: creates a user whose name nobody else has."""

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

NAMESPACE = "username"  # the claims' namespace
NOBODY = 0  # the viewer id of idempotency keys of users who have no id yet


async def sign_up(
    stores: Stores, new: NewUser, *, key: str | None = None, at: int | None = None
) -> User:
    """Create a user. `at` is epoch ms; the default is now.

    The user is stored first and then claims the name. A user that comes second becomes inactive.
    Raises BadInput, or Conflict if the name is taken, even by an earlier sign-up of the same person
    without a key.
    """
    new = new.checked()
    unguessable_key(key)
    holders = await stores.shards.mod.find(NAMESPACE, [new.username])
    holder = holders.get(new.username)
    # The key's scope is the name, and its answer is stored on the shard of the name's holder, even
    # if shards were opened since.
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
        # No cache can have a new object, so a failing cache does not fail the sign-up.
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

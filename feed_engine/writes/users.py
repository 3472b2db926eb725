"""Sign-ups, which create a user whose name nobody else has, and changes of a user's profile."""

import hashlib

from datasources import records
from datasources.errors import Conflict
from datasources.ids import Kind, shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.outbox.change import AnyTask, TextChanged, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import (
    Mutation,
    Outcome,
    Saved,
    mutate,
    nothing,
    now_ms,
)
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import NewUser, ProfileChange
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
    holder, version = (await stores.shards.mod.look(NAMESPACE, [new.username]))[new.username]
    # The key's scope is the name, and its answer is stored on the shard of the name's holder, even
    # if shards were opened since.
    shard = shard_of(holder) if holder else stores.shards.objects.topology().place(new.username)
    scoped = hashlib.sha256(f"{new.username}\n{key}".encode()).hexdigest() if key else None

    async def free() -> None:
        if holder is not None:
            raise taken(new.username)

    async def work(tx: ShardTx, _: None) -> Outcome[int]:
        user = User(
            created=at if at is not None else now_ms(),
            username=new.username,
            full_name=new.full_name,
            about=new.about,
            avatar=new.avatar,
            claimed=version,
        )
        id = await tx.insert(Kind.USER, records.encode(user))
        # No cache can have a new object, so a failing cache does not fail the sign-up.
        tasks: list[AnyTask] = [TextChanged(object_ids=(id,))]
        claims = [(NAMESPACE, new.username, id)]
        following = change(claims=claims, claim_versions=[version], tasks=tasks)
        return Outcome(id, Saved(id=id), following)

    async def again(saved: Saved) -> int:
        return saved.id

    mutation = Mutation("signUp", shard, NOBODY, scoped, new)
    user = await access.recall(stores, User, await mutate(stores, mutation, free, work, again))
    if not user.active:
        raise taken(new.username)
    return user


async def update_profile(
    stores: Stores, viewer_id: int, wanted: ProfileChange, *, key: str | None = None
) -> User:
    """Change the viewer's own profile. Raises BadInput, and NotFound if the viewer's account is
    gone."""
    fields = wanted.fields()

    async def work(tx: ShardTx, _: None) -> Outcome[User]:
        user, raw = await access.lock(tx, User, viewer_id)
        changes = {name: it for name, it in fields.items() if it != getattr(user, name)}
        after = await edit(tx, user, raw, changes)
        searched = changes.keys() & {"full_name", "about"}
        tasks = list[AnyTask]()
        if searched:
            tasks.append(TextChanged(object_ids=(viewer_id,)))
        following = change(objects=[viewer_id], tasks=tasks)
        return Outcome(after, Saved(id=viewer_id), following, durable=bool(changes))

    async def again(saved: Saved) -> User:
        return await access.recall(stores, User, saved.id)

    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("updateProfile", shard, viewer_id, key, wanted)
    return await mutate(stores, mutation, nothing, work, again)


def taken(username: str) -> Conflict:
    """The refusal of a user name that somebody else has."""
    return Conflict(f"The user name {username} is taken: choose another.", "username")

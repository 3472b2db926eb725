"""Sign-ups, which create a user whose name nobody else has, and changes of a user's profile."""

import hashlib

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import Conflict
from datasources.ids import Kind, shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.outbox.change import AnyTask, TextChanged, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import Input, NameChange, NewUser, ProfileChange
from feed_engine.transactions.key_kinds import SUBJECT, USERNAME
from feed_engine.transactions.validation import unguessable_key

NOBODY = 0  # the viewer id of idempotency keys of users who have no id yet


async def sign_up(
    stores: Stores,
    new: NewUser,
    *,
    subject: str | None = None,
    key: str | None = None,
    at: int | None = None,
) -> User:
    """Create a user. `at` is epoch ms; the default is now. `subject` is the key of the subject by
    whose tokens the user signs in (`key_kinds.subject_key`).

    The user is stored first, and then claims the name, and the subject at last: a user who is found
    by a subject is whole. A user that comes second becomes inactive, and gives the name back. So a
    subject has one user, however often it signs up. It needs no idempotency key, and gets its user
    again if it asks for the user's name.

    Raises BadInput, or Conflict if the name is taken, even by an earlier sign-up of the same person
    without a key or a subject; also if the subject has a user with another name, or is kept for a
    user.
    """
    new = new.checked()
    unguessable_key(key)
    mod, name = stores.shards.mod, new.username
    holder, version = (await mod.look(USERNAME.namespace, [name]))[name]
    # The key's scope is the name, and its answer is stored on the shard of the name's holder, even
    # if shards were opened since.
    shard = shard_of(holder) if holder else stores.shards.objects.topology().place(name)
    given: Input = new
    scope, subject_version = f"{name}\n{key}" if key else "", 0
    if subject is not None:
        claim = (await mod.look(SUBJECT.namespace, [subject]))[subject]
        found = await _of_subject(stores, subject, claim.id)
        if found is not None:
            return _named(found, name)
        # The subject is the key. With the versions in its scope, a name that was lost to somebody
        # else may be asked for again. No client's key has a scope that begins so.
        subject_version = claim.version
        scope = f"\n{name}\n{subject}\n{subject_version}\n{version}"
        given = NameChange(username=name)
    scoped = hashlib.sha256(scope.encode()).hexdigest() if scope else None

    async def free() -> None:
        if holder is not None:
            raise USERNAME.refusal(name)

    async def work(tx: ShardTx, _: None) -> Outcome[int]:
        user = User(
            created=at if at is not None else now_ms(),
            username=name,
            full_name=new.full_name,
            about=new.about,
            avatar=new.avatar,
            claimed=version,
            subject=subject or "",
            subject_claimed=subject_version,
        )
        id = await tx.insert(Kind.USER, records.encode(user))
        # No cache can have a new object, so a failing cache does not fail the sign-up.
        tasks: list[AnyTask] = [TextChanged(object_ids=(id,))]
        claims, versions = [(USERNAME.namespace, name, id)], [version]
        if subject is not None:
            claims.append((SUBJECT.namespace, subject, id))
            versions.append(subject_version)
        following = change(claims=claims, claim_versions=versions, tasks=tasks)
        return Outcome(id, Saved(id=id), following)

    async def again(saved: Saved) -> int:
        return saved.id

    mutation = Mutation("signUp", shard, NOBODY, scoped, given)
    user = await access.recall(stores, User, await mutate(stores, mutation, free, work, again))
    if user.active:
        return user
    if subject is not None:
        holder = (await mod.find(SUBJECT.namespace, [subject])).get(subject)
        if (found := await _of_subject(stores, subject, holder)) is not None:
            return _named(found, name)
    raise USERNAME.refusal(name)


async def _of_subject(stores: Stores, subject: str, holder: int | None) -> User | None:
    """The user of a subject with this holder. Raises Conflict if the subject is kept for a user who
    does not sign in by it, or whose account was deleted."""
    if holder is None:
        return None
    user = await access.recall(stores, User, holder)
    if not user.active or user.subject != subject:
        raise Conflict(
            "Your account by this token was unlinked or deleted less than 30 days ago: sign up "
            "when it is free."
        )
    return user


def _named(user: User, name: str) -> User:
    """The user of a subject that signs up again. Raises Conflict if the user has another name."""
    if not user.is_named(name):
        raise Conflict(
            f"You have an account already, with the user name {user.username}: use it.", "username"
        )
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

"""Changes of a user's keys: the user name, the e-mail address, the subject of another issuer.

A user is on one shard, the claim of a key on another, so a change takes three steps, each of which
may be the last one of a process:

1. The new key is noted in the user's record as kept for the user, for an hour.
2. The key is claimed.
3. The user gets the key. The old key is kept for the user for 30 days: nobody else gets it, and the
   user can go back. Links by an old user name lead to the user.

The removal of a key is the third step alone.

A task in the outbox frees each kept key at its end, unless the user has it by then. Claims and
releases carry the version of the key, which changes when the key is freed: a late or repeated
claim or release does nothing (`datasources.protocols.ModStore`).
"""

from typing import NamedTuple

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.protocols import Claim, ShardTx, Stores
from datasources.records import KeptKey, User
from feed_engine.live.events import Event, SignedOut
from feed_engine.outbox.change import KIND, AnyTask, Change, KeyEnded, TextChanged, change, encode
from feed_engine.times import DAY, HOUR
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Outdated, Saved, commit, mutate
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import EmailChange, Input, NameChange, SubjectChange
from feed_engine.transactions.key_kinds import EMAIL, SUBJECT, USERNAME, KeyKind
from feed_engine.writes.key_tasks import free

KEPT_FOR = 30 * DAY
"""The time for which an old key stays the user's."""
_CLAIMED_WITHIN = HOUR
"""The time for which a new key is kept for a change that has not ended."""
MOST = 10
"""Keys of a kind that are kept for one user at the same time."""


async def change_user_name(
    stores: Stores,
    viewer_id: int,
    given: NameChange,
    *,
    key: str | None = None,
    at: int | None = None,
) -> User:
    """Give the viewer another user name. See `_change_key`."""
    given = given.checked()
    mutation = _mutation(stores, "changeUserName", viewer_id, key, given)
    return await _change_key(stores, USERNAME, mutation, given.username, at)


async def change_email(
    stores: Stores,
    viewer_id: int,
    given: EmailChange,
    *,
    key: str | None = None,
    at: int | None = None,
) -> User:
    """Give the viewer another e-mail address, or none. See `_change_key`."""
    given = given.checked()
    mutation = _mutation(stores, "changeEmail", viewer_id, key, given)
    return await _change_key(stores, EMAIL, mutation, given.email or "", at)


async def change_subject(
    stores: Stores,
    viewer_id: int,
    given: SubjectChange,
    *,
    key: str | None = None,
    at: int | None = None,
) -> User:
    """Let the viewer sign in by another subject, or by none. See `_change_key`."""
    name = "linkSubject" if given.subject else "unlinkSubject"
    mutation = _mutation(stores, name, viewer_id, key, given)
    mutation = mutation._replace(takes_back=given.subject is None)
    return await _change_key(stores, SUBJECT, mutation, given.subject or "", at)


class _Claimed(NamedTuple):
    """The key before the change, with its claim's version (None if the user did not hold it), and
    the version of the new key's claim."""

    before: str
    before_version: int | None
    version: int


def _mutation(stores: Stores, name: str, viewer_id: int, key: str | None, given: Input) -> Mutation:
    return Mutation(name, access.home(stores, Kind.USER, viewer_id), viewer_id, key, given)


async def _change_key(
    stores: Stores, kind: KeyKind, mutation: Mutation, wanted: str, at: int | None
) -> User:
    """Give the viewer another key of a kind ("": none). Nothing happens if it is the viewer's key
    already.

    Raises BadInput, also if too many keys are kept for the viewer; Conflict if somebody else has
    the key, or it is kept for somebody else; NotFound if the viewer's account is gone.
    """
    viewer_id, now = mutation.viewer_id, at if at is not None else now_ms()

    async def prepare() -> _Claimed | None:
        user = (await access.read(stores, User, [viewer_id])).get(viewer_id)
        if user is None:
            raise access.missing(Kind.USER, viewer_id)
        before = kind.key_of(user)
        if before == wanted:
            return None
        claims = await stores.shards.mod.look(kind.namespace, [it for it in (before, wanted) if it])
        version = await claim(user, claims[wanted]) if wanted else 0
        if version is None:
            return None
        held = bool(before) and claims[before].id == viewer_id
        return _Claimed(before, claims[before].version if held else None, version)

    async def claim(user: User, found: Claim) -> int | None:
        """Claim the wanted key. Returns the version of its claim, or None if the mutation has its
        answer already."""
        if found.id not in (None, viewer_id):
            raise kind.refusal(wanted)
        entry = kind.find_kept(user, wanted)
        if entry is not None and (entry.ending or entry.version != found.version):
            await free(stores, end_of(kind, viewer_id, entry))
            raise Outdated
        if entry is None:
            entry = _entry(wanted, found.version, now, first=True)
            if not await _note(stores, kind, mutation, kind.key_of(user), entry):
                return None
        holder = await stores.shards.mod.claim_at(kind.namespace, wanted, viewer_id, found.version)
        if holder is None:
            raise Outdated
        if holder != viewer_id:
            raise kind.refusal(wanted)
        return found.version

    async def work(tx: ShardTx, claimed: _Claimed | None) -> Outcome[User]:
        user, raw = await access.lock(tx, User, viewer_id)
        before = kind.key_of(user)
        if before != (wanted if claimed is None else claimed.before):
            raise Outdated
        if claimed is None:
            return Outcome(user, Saved(id=viewer_id), Change(), durable=False)
        if wanted:
            entry = kind.find_kept(user, wanted)
            if entry is None or entry.ending or entry.version != claimed.version:
                raise Outdated
        kept = kind.kept_without(user, wanted)
        if claimed.before_version is not None:
            old = _entry(before, claimed.before_version, now)
            kept = (*kept, old)
            await _post_end(tx, kind, viewer_id, old, delay=KEPT_FOR)
        changes = {kind.field: wanted, kind.claimed: claimed.version, kind.kept: kept}
        after = await edit(tx, user, raw, changes)
        tasks, events = list[AnyTask](), list[Event]()
        if kind is USERNAME:
            tasks.append(TextChanged(object_ids=(viewer_id,)))
        if kind is SUBJECT:
            events.append(SignedOut(user_id=viewer_id))  # streams look at their tokens again
        following = change(objects=[viewer_id], tasks=tasks, events=events)
        return Outcome(after, Saved(id=viewer_id), following)

    async def again(saved: Saved) -> User:
        return await access.recall(stores, User, saved.id)

    return await mutate(stores, mutation, prepare, work, again)


async def _note(
    stores: Stores, kind: KeyKind, mutation: Mutation, before: str, entry: KeptKey
) -> bool:
    """Keep the key for the viewer, so that it is freed if this process ends before the change.
    Returns False if the mutation has its answer already: then nothing is kept."""
    viewer_id, noted = mutation.viewer_id, True

    async def work(tx: ShardTx) -> Change:
        nonlocal noted
        key = mutation.scoped_key()
        noted = key is None or await tx.answered(viewer_id, key) is None
        if not noted:
            return change()
        user, raw = await access.lock(tx, User, viewer_id)
        if kind.key_of(user) != before or kind.find_kept(user, entry.key) is not None:
            raise Outdated
        kept = kind.kept_of(user)
        if len(kept) >= MOST:
            raise BadInput(
                f"{MOST} earlier {kind.noun} are kept for you, for {KEPT_FOR // DAY} days each: "
                "take one of them, or wait until one is free.",
                kind.argument,
            )
        await edit(tx, user, raw, {kind.kept: (*kept, entry)})
        await _post_end(tx, kind, viewer_id, entry, delay=_CLAIMED_WITHIN)
        return change(objects=[viewer_id])

    await commit(stores, mutation.shard, work)
    return noted


async def _post_end(
    tx: ShardTx, kind: KeyKind, user_id: int, entry: KeptKey, *, delay: int
) -> None:
    await tx.post(KIND, encode(change(tasks=[end_of(kind, user_id, entry)])), delay=delay)


def _entry(key: str, version: int, now: int, *, first: bool = False) -> KeptKey:
    return KeptKey(key, version, now + (_CLAIMED_WITHIN if first else KEPT_FOR))


def end_of(kind: KeyKind, user_id: int, entry: KeptKey) -> KeyEnded:
    """The task at the end of the time for which a key is kept."""
    return KeyEnded(
        user_id=user_id,
        namespace=kind.namespace,
        key=entry.key,
        version=entry.version,
        until=entry.until,
    )

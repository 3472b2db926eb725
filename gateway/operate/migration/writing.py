"""Brings one object or edge of a migration to the stores, as a line of the source says, or takes it
away. Every write may be repeated.

Old ids are claimed last and released last, so an object with a claimed old id is complete.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import BadInput, Conflict, NotFound
from datasources.ids import Kind, kind_of, shard_of
from datasources.mappings import REVERSE, SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Comment, Interest, Pin, Record, User
from feed_engine.outbox.change import (
    AnyTask,
    BoardSecrecy,
    Change,
    Followed,
    TextChanged,
    Unfollowed,
    change,
)
from feed_engine.transactions import access
from feed_engine.transactions.commit import Rows, commit
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import Deletion, EmailChange, NameChange, SubjectChange
from feed_engine.transactions.key_kinds import EMAIL, KINDS, SUBJECT, USERNAME, KeyKind
from feed_engine.writes import comments
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.boards import delete_board
from feed_engine.writes.comment_index import put_rows
from feed_engine.writes.key_tasks import free
from feed_engine.writes.keys import change_email, change_subject, change_user_name, end_of
from feed_engine.writes.move import move_pin
from feed_engine.writes.pin_rows import is_public, published, put_owned, put_public
from feed_engine.writes.pins import delete_pin
from gateway.operate.imports.load import identity
from gateway.operate.imports.private_keys import TAKEN
from gateway.operate.imports.unique_names import SLUGS
from gateway.operate.migration.copying import claim_old, namespace
from gateway.operate.migration.expected import Expected, changes, is_placed, is_set
from gateway.operate.migration.items import Ref
from gateway.operate.migration.ledger import Start
from gateway.operate.migration.stored_keys import StoredKeys

ON_BOARD = Mapping.BOARD_HAS_PINS
_WAITING = "waiting"
_WORDS = {USERNAME.namespace: "user name", SLUGS: "slug"}
R = TypeVar("R", bound=Record)


class _Made(NamedTuple):
    """The id of an object that was to be stored. `new`: it was not there before."""

    id: int
    new: bool


class LeftOut(Exception):
    """The object can't be stored, or not as the source says. `stays`: the object's id, if it is
    there."""

    def __init__(self, reason: str, *, stays: int | None = None) -> None:
        super().__init__(reason)
        self.stays = stays


class Writer:
    """Writes a migration's objects and edges. `anew`: also writes the rows of mappings of an object
    or an edge that stands: a row that depends on them, perhaps on another shard, may be lost."""

    def __init__(self, stores: Stores, keys: StoredKeys, *, anew: bool = False) -> None:
        self._stores = stores._replace(writes_per_day=0)  # quotas are for people
        self._keys, self._anew = keys, anew

    async def put(self, ref: Ref, stored: Record | None, wanted: Expected) -> int:
        """Store an object, or change it. `stored` is the object to which the old id leads. Returns
        its id, which is another one if it has another parent on another shard. Raises LeftOut."""
        record = wanted.record
        assert record is not None
        if stored is not None and _must_be_new(stored, record):
            await self.take_away(ref, stored)
            stored = None
        if stored is None:
            made = await self._create(ref, record, wanted.place)
            await self.claim(ref, made.id)
            if not made.new:
                found = await access.recall(self._stores, type(record), made.id)
                return await self.put(ref, found, wanted)
            if isinstance(record, User):
                await self._set_keys(await access.recall(self._stores, User, made.id), record)
            return made.id
        match stored, record:
            case User(), User():
                await self._edit(stored, record, texts=True)
                await self._change_keys(stored, record)
            case Board(), Board():
                await self._edit_board(stored.id, record)
            case Pin(), Pin():
                if stored.board_id != record.board_id:
                    await move_pin(self._stores, stored.owner_id, stored.id, record.board_id)
                await self._edit_pin(stored.id, record, wanted.place)
            case Comment(), Comment():
                await self._edit_comment(stored, record)
            case _:
                await self._edit(stored, record, texts=False)
        return stored.id

    def start(self, record: Record) -> Start:
        """Where the object is stored first: by the name that it claims, or with its parent."""
        match record:
            case User():
                return self._named(record.username)
            case Interest():
                return self._named(record.slug)
            case Board():
                parent_id = record.owner_id
            case Pin():
                parent_id = record.board_id
            case Comment():
                parent_id = record.pin_id
            case _:
                raise TypeError(record)
        return Start(shard_of(parent_id), str(parent_id))

    async def unclaimed(self, ref: Ref, start: Start) -> list[int]:
        """The objects with this old id that were stored there, deleted ones included."""
        kind, found = Kind[ref.kind.upper()], list[int]()

        async def work(tx: ShardTx) -> None:
            found.clear()
            while True:
                key = identity(start.parent, f"{self._keys.of(ref.key)}{_salt(found)}")
                if not await tx.known_keys(kind, [key]):
                    return
                found.extend(await tx.insert_many(kind, [b"{}"], [key]))  # tells the known id

        await self._stores.shards.objects.transact(start.shard, work)
        return found

    async def free_old_id(self, ref: Ref) -> Record | None:
        """Let an old id that leads to a deleted object lead nowhere, and free the object's names.
        Returns the object, None if it is erased. An interrupted run may have deleted it."""
        mod, within = self._stores.shards.mod, namespace(self._keys.name, ref.kind)
        id = (await mod.find(within, [ref.key])).get(ref.key)
        if id is None:
            return None
        found = await self._stores.shards.objects.get([id])
        stored = records.decode(kind_of(id), id, found[id]) if id in found else None
        if isinstance(stored, User):
            await self._free_kept(stored)
            for kind in KINDS.values():
                if key := kind.key_of(stored):
                    await mod.release(kind.namespace, key, id)  # an earlier copy noted no version
        elif isinstance(stored, Interest) and not stored.active:
            await mod.release(SLUGS, stored.slug, id)
        await mod.release(within, ref.key, id)
        return stored

    async def take_away(self, ref: Ref, stored: Record) -> None:
        """Delete an object, and free its old id."""
        stores, id = self._stores, stored.id
        try:
            match stored:
                case User():
                    await delete_account(stores, id, Deletion(username=stored.username))
                case Board():
                    await delete_board(stores, stored.owner_id, id)
                case Pin():  # a former collaborator does not see it on a secret board
                    board = await access.recall(stores, Board, stored.board_id)
                    await delete_pin(stores, board.owner_id, id)
                case Comment():
                    await self._delete_comment(id)
                case Interest() if stored.key == self._keys.of(ref.key):  # else it was here before
                    await self._edit(stored, None, texts=False)
        except NotFound:
            pass  # it is deleted, or its parent is: then a task deletes it
        await self.free_old_id(ref)

    async def set_edge(self, mapping: Mapping, edge: Edge) -> None:
        """Set a like or a follow, with the source's time. Nobody is told of a like."""
        await self._put_edge(mapping, edge, active=True)

    async def clear_edge(self, mapping: Mapping, edge: Edge) -> None:
        await self._put_edge(mapping, edge, active=False)

    async def _put_edge(self, mapping: Mapping, edge: Edge, *, active: bool) -> None:
        async def work(tx: ShardTx) -> Change | None:
            await tx.head(ListKey(mapping, edge.from_id))
            row = await tx.edge(EdgeKey(mapping, edge.from_id, edge.to_id))
            version = row.version if row else 0
            if not active and (row is None or not row.active):
                return None
            if active and is_set(row, edge) and not self._anew:
                return change(edges=[(REVERSE[mapping], edge._replace(version=version).reversed())])
            # A set edge has an odd version.
            version += 1 if (row is not None and row.active) is not active else 2
            sequence = edge.sequence if active or row is None else row.sequence
            after = edge._replace(version=version, active=active, sequence=sequence)
            rows = Rows(tx)
            await rows.put(mapping, after)
            await rows.put(REVERSE[mapping], after.reversed())
            tasks = list[AnyTask]()
            if mapping is not Mapping.USER_LIKES_PINS:
                task = Followed if active else Unfollowed
                at = sequence // SEQUENCE_STEP if active else now_ms()
                told = {"viewer_id": edge.from_id, "target_id": edge.to_id}
                tasks.append(task(**told, version=version, at=at))
            return rows.change(tasks=tasks)

        await commit(self._stores, shard_of(edge.from_id), work)

    async def _create(self, ref: Ref, record: Record, place: int) -> _Made:
        match record:
            case User():
                return await self._create_named(ref, record, USERNAME.namespace, record.username)
            case Interest():
                return await self._create_named(ref, record, SLUGS, record.slug)
            case Board():
                return await self._insert(record.owner_id, record, self._board_rows)
            case Pin():

                async def rows_of(tx: ShardTx, rows: Rows, pin: Pin) -> list[AnyTask]:
                    return await self._pin_rows(tx, rows, pin, place)

                return await self._insert(record.board_id, record, rows_of)
            case Comment():
                return await self._insert(record.pin_id, record, self._comment_rows)
        raise TypeError(record)

    async def _insert(
        self,
        parent_id: int,
        record: R,
        rows_of: Callable[[ShardTx, Rows, R], Awaitable[list[AnyTask]]],
        *,
        parent: object = None,
        shard: int | None = None,
    ) -> _Made:
        """Store an object and its rows, unless an interrupted run has stored them. An object with
        the same old id that was deleted stays deleted: then another one is stored."""
        kind, id, known = records.KINDS[type(record)], 0, set[str]()
        deleted = list[int]()

        async def work(tx: ShardTx) -> Change | None:
            nonlocal id, known
            key = identity(parent or parent_id, f"{record.key}{_salt(deleted)}")
            known = await tx.known_keys(kind, [key])
            [id] = await tx.insert_many(kind, [records.encode(record)], [key])
            stored, _ = await access.lock(tx, type(record), id)
            rows = Rows(tx)
            tasks = [] if known else await rows_of(tx, rows, stored)
            return rows.change(objects=[id], tasks=tasks)

        while True:
            try:
                on = shard_of(parent_id) if shard is None else shard
                await commit(self._stores, on, work)
                return _Made(id, not known)
            except NotFound:
                deleted.append(id)

    async def _create_named(self, ref: Ref, record: R, names: str, name: str) -> _Made:
        """Store a user or an interest, and claim its name. An interest whose slug is there already
        is that interest."""
        mod = self._stores.shards.mod
        claim = (await mod.look(names, [name]))[name]
        if claim.id is not None and names == SLUGS:
            return _Made(claim.id, new=True)  # keeps its own texts

        async def no_rows(tx: ShardTx, rows: Rows, stored: R) -> list[AnyTask]:
            return [TextChanged(object_ids=(stored.id,))]

        if isinstance(record, User):
            record = _replaced(record, {"claimed": claim.version, "email": "", "subject": ""})
        place = self._named(name).shard
        if claim.id is not None:
            found = await access.read(self._stores, User, [claim.id])
            own = claim.id in found and found[claim.id].key == record.key
            if not own or not await self._is_unclaimed(ref):
                raise LeftOut(f"the {_WORDS[names]} {name!r} is taken")
            await self._note_claim(claim.id, claim.version)
            return _Made(claim.id, new=False)
        made = await self._insert(0, record, no_rows, parent=name, shard=place)
        holder = await mod.claim_at(names, name, made.id, claim.version)
        if holder != made.id:
            lost = await access.recall(self._stores, type(record), made.id)
            await self._edit(lost, None, texts=False)
            if holder is not None:
                raise LeftOut(f"the {_WORDS[names]} {name!r} is taken")
            return await self._create_named(ref, record, names, name)  # it was freed meanwhile
        if isinstance(record, User) and not made.new:
            await self._note_claim(made.id, claim.version)
        return made

    async def _note_claim(self, id: int, version: int) -> None:
        """Note the version of the claim of a user's name. Another user may have had the name since
        an interrupted run stored the user."""

        async def work(tx: ShardTx) -> Change | None:
            user, raw = await access.lock(tx, User, id)
            if user.claimed == version:
                return None
            await edit(tx, user, raw, {"claimed": version})
            return change(objects=[id])

        await commit(self._stores, shard_of(id), work)

    def _named(self, name: str) -> Start:
        return Start(self._stores.shards.objects.topology().place(name), name)

    async def _is_unclaimed(self, ref: Ref) -> bool:
        """Whether the old id leads nowhere: an interrupted run may have stored the object."""
        found = await self._stores.shards.mod.find(namespace(self._keys.name, ref.kind), [ref.key])
        return not found

    async def claim(self, ref: Ref, id: int) -> None:
        """Let the old id lead to the object. If it leads to an object that was deleted, it is freed
        first."""
        await claim_old(self._stores.shards, self._keys.name, *ref, id)

    async def _board_rows(self, tx: ShardTx, rows: Rows, board: Board) -> list[AnyTask]:
        edge = Edge(board.owner_id, board.id, board.created * SEQUENCE_STEP, 1 + board.flips)
        await rows.put(Mapping.USER_HAS_BOARDS, edge)
        public = edge._replace(active=not board.secret)
        if not board.secret or board.flips:
            await rows.put(Mapping.USER_HAS_PUBLIC_BOARDS, public)
        return [] if board.secret else [TextChanged(object_ids=(board.id,))]

    async def _comment_rows(self, tx: ShardTx, rows: Rows, comment: Comment) -> list[AnyTask]:
        edge = Edge(comment.pin_id, comment.id, comment.created * SEQUENCE_STEP, 1)
        await put_rows(rows, comment, edge)
        return []

    async def _pin_rows(self, tx: ShardTx, rows: Rows, pin: Pin, place: int) -> list[AnyTask]:
        board, _ = await access.lock(tx, Board, pin.board_id)
        await self._put_place(tx, rows, pin, board, place, left=())
        return [published(pin)] if is_public(pin, board) else []

    async def _put_place(
        self, tx: ShardTx, rows: Rows, pin: Pin, board: Board, place: int, *, left: tuple[int, ...]
    ) -> None:
        """Write the pin's row on its board, at the nearest free place from `place` on, and the rows
        that depend on it."""
        key = ListKey(ON_BOARD, board.id)
        await tx.head(key)
        row = await tx.edge(EdgeKey(ON_BOARD, board.id, pin.id))
        sequence = row.sequence if row is not None and is_placed(row, place) else place
        while (above := await tx.above(key, sequence - 1)) and above.sequence == sequence:
            if above.to_id == pin.id:
                break
            sequence += 1
        version = row.version + 1 if row is not None else 1
        placed = Edge(board.id, pin.id, sequence, version, era=await tx.era(key))
        await rows.put(ON_BOARD, placed)
        await put_owned(rows, pin, board, placed)
        await put_public(rows, pin, board, placed, left=left)

    async def _edit_pin(self, id: int, wanted: Pin, place: int) -> None:
        async def work(tx: ShardTx) -> Change | None:
            board, _ = await access.lock(tx, Board, wanted.board_id)
            pin, raw = await access.lock(tx, Pin, id)
            await tx.head(ListKey(ON_BOARD, board.id))
            row = await tx.edge(EdgeKey(ON_BOARD, board.id, id))
            fields = changes(pin, wanted)
            rows, tasks = Rows(tx), list[AnyTask]()
            whole = {**fields, "flips": board.flips} if fields else {}
            after = await edit(tx, pin, raw, whole)
            moved = {"interest_ids", "created"} & fields.keys() or not is_placed(row, place)
            if moved or self._anew:
                left = tuple(it for it in pin.interest_ids if it not in after.interest_ids)
                await self._put_place(tx, rows, after, board, place, left=left)
            elif not fields:
                return None
            if is_public(after, board):
                if "interest_ids" in fields:
                    tasks.append(published(after, at=now_ms()))
                elif fields.keys() & {"title", "description"}:
                    tasks.append(TextChanged(object_ids=(id,)))
            return rows.change(objects=[id], tasks=tasks)

        await commit(self._stores, shard_of(id), work)

    async def _edit_board(self, id: int, wanted: Board) -> None:
        async def work(tx: ShardTx) -> Change | None:
            board, raw = await access.lock(tx, Board, id)
            fields = changes(board, wanted)
            if not fields and not self._anew:
                return None
            rows, tasks = Rows(tx), list[AnyTask]()
            if fields.keys() & {"secret", "created"} or self._anew:
                fields["flips"] = board.flips + 1
            after = await edit(tx, board, raw, fields)
            if "flips" in fields:
                await self._board_rows(tx, rows, after)
                tasks.append(BoardSecrecy(board_id=id, secret=after.secret, at=now_ms()))
            elif not after.secret:
                tasks.append(TextChanged(object_ids=(id,)))
            return rows.change(objects=[id], tasks=tasks)

        await commit(self._stores, shard_of(id), work)

    async def _edit_comment(self, stored: Comment, wanted: Comment) -> None:
        async def work(tx: ShardTx) -> Change | None:
            comment, raw = await access.lock(tx, Comment, stored.id)
            fields, rows = changes(comment, wanted), Rows(tx)
            after = await edit(tx, comment, raw, fields)
            if "created" in fields or self._anew:
                await tx.head(ListKey(Mapping.PIN_HAS_COMMENTS, after.pin_id))
                row = await tx.edge(EdgeKey(Mapping.PIN_HAS_COMMENTS, after.pin_id, after.id))
                version = row.version + 1 if row is not None else 1
                edge = Edge(after.pin_id, after.id, after.created * SEQUENCE_STEP, version)
                await put_rows(rows, after, edge)
            return rows.change(objects=[stored.id]) if fields or self._anew else None

        await commit(self._stores, shard_of(stored.id), work)

    async def _delete_comment(self, id: int) -> None:
        async def work(tx: ShardTx) -> Change:
            comment, raw = await access.lock(tx, Comment, id)
            rows = Rows(tx)
            await comments.deactivate(tx, rows, comment, raw, {})
            return rows.change(objects=[id])

        await commit(self._stores, shard_of(id), work)

    async def _edit(self, stored: Record, wanted: Record | None, *, texts: bool) -> None:
        """Change a user's or an interest's fields except its keys; None deactivates it."""

        async def work(tx: ShardTx) -> Change | None:
            record, raw = await access.lock(tx, type(stored), stored.id)
            fields = {"active": False} if wanted is None else changes(record, wanted)
            for kind in KINDS.values():
                fields.pop(kind.field, None)
            if not fields:
                return None
            await edit(tx, record, raw, fields)
            tasks: list[AnyTask] = [TextChanged(object_ids=(stored.id,))] if texts else []
            return change(objects=[stored.id], tasks=tasks)

        await commit(self._stores, shard_of(stored.id), work)

    async def _rename(self, user: User, name: str) -> None:
        """Give a user the name that the source says, and free the old name at once.

        If another user of the migration has the name still, that user may wait for this user's
        name. So this user gets a name that nobody wants, until the other user is looked at.
        """
        try:
            await self._take_name(user, name)
        except (BadInput, Conflict) as error:
            waiting = f"{_WAITING}.{user.id}"
            if user.username != waiting and await self._is_migrated(name):
                await self._take_name(user, waiting)
                raise LeftOut(f"{error.message}", stays=user.id) from None
            reason = f"{error.message} The user stays {user.username}."
            raise LeftOut(reason, stays=user.id) from None

    async def _take_name(self, user: User, name: str) -> None:
        after = await change_user_name(self._stores, user.id, NameChange(username=name))
        await self._free_kept(after)

    async def _change_keys(self, user: User, wanted: User) -> None:
        """Give a user the name and the other keys that the source says. Raises LeftOut."""
        left: LeftOut | None = None
        await self._free_kept(user)  # of a run that was killed: few are kept at the same time
        try:
            await self._set_keys(user, wanted)
        except LeftOut as error:
            left = error  # the name may be free
        if user.username != wanted.username:
            await self._rename(user, wanted.username)
        if left is not None:
            raise left

    async def _set_keys(self, user: User, wanted: User) -> None:
        """Give a user the e-mail address and the subject that the source says, and free the old
        ones at once. A user whose key another user has gets none, and gives the old one up: the
        other user may wait for it. Raises LeftOut."""
        taken = []
        for kind in (EMAIL, SUBJECT):
            key = kind.key_of(wanted)
            try:
                await self._take_key(user, kind, key)
            except Conflict:
                await self._take_key(user, kind, "")
                taken.append(TAKEN[kind].format(key))
        await self._free_kept(await access.recall(self._stores, User, user.id))
        if taken:
            raise LeftOut("; ".join(taken), stays=user.id)

    async def _take_key(self, user: User, kind: KeyKind, key: str) -> None:
        if kind.key_of(user) == key:
            return
        if kind is EMAIL:
            await change_email(self._stores, user.id, EmailChange(email=key or None))
        else:
            await change_subject(self._stores, user.id, SubjectChange(subject=key or None))

    async def _free_kept(self, user: User) -> None:
        """Free the keys that are kept for a user: in the source, they are free."""
        for kind in KINDS.values():
            for kept in kind.kept_of(user):
                await free(self._stores, end_of(kind, user.id, kept))

    async def _is_migrated(self, name: str) -> bool:
        """Whether the user who has the name is one of this migration's."""
        mod = self._stores.shards.mod
        holder = (await mod.find(USERNAME.namespace, [name])).get(name, 0)
        user = (await access.read(self._stores, User, [holder])).get(holder)
        if user is None or user.key is None:
            return False
        old = self._keys.old(user.key)
        found = await mod.find(namespace(self._keys.name, "user"), [old])
        return found.get(old) == holder


def _salt(deleted: Sequence[int]) -> str:
    """The end of the key of an object whose old id objects had that were deleted."""
    return "".join(f"/{id}" for id in deleted)


def _must_be_new(stored: Record, wanted: Record) -> bool:
    """Whether an object can't become the wanted one: its shard is its first parent's."""
    match stored, wanted:
        case Board(), Board():
            return stored.owner_id != wanted.owner_id
        case Pin(), Pin():
            return stored.owner_id != wanted.owner_id
        case Comment(), Comment():
            return stored.pin_id != wanted.pin_id
        case Interest(), Interest():
            return stored.slug != wanted.slug
    return False


def _replaced(record: R, fields: dict[str, Any]) -> R:
    return msgspec.structs.replace(record, **fields)

"""A transaction on one shard: `datasources.protocols.ShardTx` over a SQL session."""

from collections.abc import Callable, Sequence

from datasources import ids
from datasources.errors import StoreConflict
from datasources.ids import Kind, local_of
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping
from datasources.protocols import (
    RESPACINGS_KEPT,
    RESPACINGS_KEPT_MS,
    VISITS_KEPT,
    Answer,
    Case,
    Decision,
    Notification,
    OutboxRow,
    PinEvent,
    Report,
    Use,
    Visit,
)
from datasources.sql import codecs
from datasources.sql.dialect import Dialect, marks, rows_of_marks
from datasources.sql.engine import Session
from datasources.sql.lists import ROWS_A_STATEMENT, Lists, touch
from datasources.sql.notifications import TxNotifications
from datasources.sql.reports import TxReports
from datasources.sql.schema import ERAS, KEYS, OBJECT_TABLES, PAGES

BYTES_A_STATEMENT = 1 << 20  # far below MySQL's max_allowed_packet
_EVENT = ("user_id", "day", "pin_id", "kind")
_QUOTA = ("viewer_id", "day", "subject")
# the mapping codes of the rows in `lists` that lock a user's visits, and a user's events (and -2,
# `datasources.sql.notifications.LOCK`)
VISITS_LOCK, EVENTS_LOCK = 0, -1


class SqlTx:
    """See ShardTx. It may only be used inside the `work` that it was made for."""

    def __init__(
        self, shard: int, session: Session, dialect: Dialect, clock: Callable[[], int]
    ) -> None:
        self.shard = shard
        self._session, self._dialect, self._clock = session, dialect, clock
        self._lists = Lists(session, dialect)
        self._notifications = TxNotifications(session, dialect, clock)
        self._reports = TxReports(session, dialect)
        self._neighbors_read: dict[tuple[object, ...], list[Edge]] = {}

    async def insert(self, kind: Kind, data: bytes) -> int:
        made = await self._session.run(
            "tx.insert",
            f"INSERT INTO {{db}}.{OBJECT_TABLES[kind]} (data) VALUES (?)",
            (data.decode(),),
        )
        return ids.compose(self.shard, kind, made.last_id)

    async def insert_many(
        self, kind: Kind, data: Sequence[bytes], keys: Sequence[str] | None = None
    ) -> list[int]:
        if keys is None:
            return await self._insert_rows(kind, data)
        if len(keys) != len(data):
            raise ValueError(f"{len(data)} objects with {len(keys)} keys")
        stored = [codecs.key(key) for key in keys]
        known = await self._ids_by_key(kind, stored)
        # A key that appears twice is one object, the first.
        fresh: dict[bytes, bytes] = {}
        for key, value in zip(stored, data, strict=True):
            if key not in known:
                fresh.setdefault(key, value)
        for at in _batches(list(fresh.values())):
            await self._insert_keyed(kind, list(fresh.items())[at])
        known |= await self._ids_by_key(kind, list(fresh))
        return [known[key] for key in stored]

    async def known_keys(self, kind: Kind, keys: Sequence[str]) -> set[str]:
        stored = {codecs.key(key): key for key in keys}
        return {stored[key] for key in await self._ids_by_key(kind, list(stored))}

    async def get(self, id: int) -> bytes | None:
        self._session.will_lock([(-ids.kind_of(id), ids.local_of(id))])
        found = await self._session.run(
            "tx.get",
            f"SELECT data FROM {{db}}.{self._table(id)} WHERE local_id = ?{self._dialect.lock}",
            (ids.local_of(id),),
        )
        return bytes(found.rows[0][0]) if found.rows else None

    async def update(self, id: int, data: bytes) -> None:
        changed = await self._session.run(
            "tx.update",
            f"UPDATE {{db}}.{self._table(id)} SET data = ?{self._dialect.touch} WHERE local_id = ?",
            (data.decode(), ids.local_of(id)),
        )
        if not changed.matched:
            raise StoreConflict(f"there is no object {id} to update")

    async def head(self, key: ListKey) -> ListHead:
        self._check(key.from_id)
        head = await self._lists.head(key)
        return ListHead(head.size, head.version)

    async def edge(self, key: EdgeKey) -> Edge | None:
        self._check(key.from_id)
        return await self._lists.row(key)

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        for key in keys:
            self._check(key.from_id)
        return await self._lists.rows(keys)

    async def put_edge(self, mapping: Mapping, edge: Edge) -> bool:
        self._check(edge.from_id)
        self._neighbors_read.clear()
        return await self._lists.put(mapping, edge)

    async def top(self, key: ListKey) -> Edge | None:
        return await self._neighbor("tx.top", key, "", (), "DESC")

    async def below(self, key: ListKey, sequence: int) -> Edge | None:
        bound = (self._dialect.bound(sequence),)
        return await self._neighbor("tx.below", key, "AND sequence < ?", bound, "DESC")

    async def above(self, key: ListKey, sequence: int) -> Edge | None:
        bound = (self._dialect.bound(sequence),)
        return await self._neighbor("tx.above", key, "AND sequence > ?", bound, "ASC")

    async def rows_below(self, key: ListKey, sequence: int, limit: int) -> list[Edge]:
        bound = (self._dialect.bound(sequence),)
        return await self._neighbors("tx.rows", key, "AND sequence < ?", bound, "DESC", limit)

    async def rows_above(self, key: ListKey, sequence: int, limit: int) -> list[Edge]:
        bound = (self._dialect.bound(sequence),)
        return await self._neighbors("tx.rows", key, "AND sequence > ?", bound, "ASC", limit)

    async def rows_of(self, key: ListKey, after_id: int, limit: int) -> list[Edge]:
        await self.head(key)
        found = await self._session.run(
            "tx.rows",
            f"SELECT {codecs.EDGE_COLUMNS} FROM {{db}}.{key.mapping.value}{self._dialect.by()} "
            f"WHERE from_id = ? AND to_id > ? ORDER BY to_id LIMIT {limit:d}",
            (key.from_id, after_id),
        )
        return [codecs.edge(row) for row in found.rows]

    async def erase_edges(self, keys: Sequence[EdgeKey]) -> None:
        for key in keys:
            self._check(key.from_id)
        self._neighbors_read.clear()
        await self._lists.erase(keys)

    async def erase(self, ids: Sequence[int]) -> None:
        for id in ids:
            statement = f"DELETE FROM {{db}}.{self._table(id)} WHERE local_id = ?"
            self._session.at_commit(statement, (local_of(id),))

    async def erase_lists(self, from_ids: Sequence[int]) -> None:
        codes = [code for mapping in Mapping for code in (mapping.code, ERAS + mapping.code)]
        for id in from_ids:
            self._check(id)
            self._session.at_commit(
                f"DELETE FROM {{db}}.lists WHERE mapping IN ({marks(len(codes))}) AND from_id = ?",
                (*codes, id),
            )
            self._session.at_commit("DELETE FROM {db}.respacings WHERE from_id = ?", (id,))

    async def erase_visits(self, user_id: int) -> None:
        self._check(user_id)
        self._session.at_commit("DELETE FROM {db}.visits WHERE user_id = ?", (user_id,))
        self._session.at_commit(
            f"DELETE FROM {{db}}.lists WHERE mapping = {VISITS_LOCK} AND from_id = ?", (user_id,)
        )

    async def era(self, key: ListKey) -> int:
        self._check(key.from_id)
        return (await self._lists.head(key)).era

    async def respaced(self, key: ListKey, moves: Sequence[tuple[int, int]]) -> int:
        self._check(key.from_id)
        era, now = await self._lists.next_era(key), self._clock()
        of_list = (key.from_id, key.mapping.code)
        await self._session.run(
            "tx.respaced",
            "INSERT INTO {db}.respacings (from_id, mapping, era, moves, created) "
            f"VALUES {rows_of_marks(1, 5)}",
            (*of_list, era, codecs.moves(moves), now),
        )
        self._session.at_commit(
            "DELETE FROM {db}.respacings "
            "WHERE from_id = ? AND mapping = ? AND (era <= ? OR (era < ? AND created < ?))",
            (*of_list, era - RESPACINGS_KEPT, era, now - RESPACINGS_KEPT_MS),
        )
        return era

    async def post(self, kind: str, payload: bytes, *, delay: int = 0) -> int:
        now = self._clock()
        made = await self._session.run(
            "tx.post",
            "INSERT INTO {db}.outbox (kind, payload, created, due, attempts) "
            "VALUES (?, ?, ?, ?, 0)",
            (kind.encode(), payload, now, now + delay),
        )
        return made.last_id

    async def hold(self, keys: Sequence[ListKey]) -> None:
        self._hold(keys, 1)

    async def release(self, keys: Sequence[ListKey]) -> None:
        self._hold(keys, -1)

    async def owed(self, outbox_id: int) -> OutboxRow | None:
        found = await self._session.run(
            "tx.owed",
            f"SELECT {codecs.OUTBOX_COLUMNS} FROM {{db}}.outbox{self._dialect.by()} "
            f"WHERE id = ?{self._dialect.lock}",
            (outbox_id,),
        )
        return codecs.outbox_row(self.shard, found.rows[0]) if found.rows else None

    async def advance(self, outbox_id: int, cursor: bytes) -> None:
        self._session.at_commit(
            "UPDATE {db}.outbox SET progress = ? WHERE id = ?", (cursor, outbox_id)
        )

    async def finish_row(self, outbox_id: int) -> None:
        self._session.at_commit("DELETE FROM {db}.outbox WHERE id = ?", (outbox_id,))

    async def answered(self, viewer_id: int, key: str) -> Answer | None:
        found = await self._session.run(
            "tx.answered",
            f"SELECT {codecs.ANSWER_COLUMNS} FROM {{db}}.answers "
            f"WHERE viewer_id = ? AND answer_key = ?{self._dialect.lock}",
            (viewer_id, codecs.key(key)),
        )
        return codecs.answer(found.rows[0]) if found.rows else None

    async def save_answer(self, viewer_id: int, key: str, answer: Answer) -> None:
        await self._session.run(
            "tx.save_answer",
            f"INSERT INTO {{db}}.answers (viewer_id, answer_key, {codecs.ANSWER_COLUMNS}, created) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (viewer_id, codecs.key(key), *answer, self._clock()),
        )

    async def use(self, viewer_id: int, day: int, uses: Sequence[Use]) -> None:
        # In one order: two transactions of a viewer then never wait for each other.
        values = [(viewer_id, day, *use) for use in sorted(uses)]
        most = self._dialect.new.format(column="most")
        self._session.at_commit(
            "INSERT INTO {db}.quotas (viewer_id, day, subject, used, most) "
            f"VALUES {rows_of_marks(len(values), 5)} "
            f"{self._dialect.add(_QUOTA, 'used')}, most = {most}",
            [it for row in values for it in row],
        )

    async def used(self, viewer_id: int, day: int, subjects: Sequence[int]) -> dict[int, int]:
        found = await self._session.run(
            "tx.used",
            "SELECT subject, used FROM {db}.quotas "
            f"WHERE viewer_id = ? AND day = ? AND subject IN ({marks(len(subjects))})",
            (viewer_id, day, *subjects),
        )
        return dict(found.rows)

    async def events_era(self, user_id: int) -> int:
        self._check(user_id)
        await touch(self._session, self._dialect, [(EVENTS_LOCK, user_id)])
        found = await self._session.run(
            "tx.events_era",
            f"SELECT version FROM {{db}}.lists WHERE mapping = {EVENTS_LOCK} AND from_id = ?"
            f"{self._dialect.lock}",
            (user_id,),
        )
        era: int = found.rows[0][0]
        return era

    async def add_events(self, user_id: int, era: int, events: Sequence[PinEvent]) -> None:
        if await self.events_era(user_id) != era:
            return
        rows = [(user_id, e.day, e.pin_id, int(e.kind), e.at) for e in events]
        for at in range(0, len(rows), ROWS_A_STATEMENT):
            some = rows[at : at + ROWS_A_STATEMENT]
            await self._session.run(
                "tx.add_events",
                f"INSERT INTO {{db}}.events ({codecs.EVENT_COLUMNS}) "
                f"VALUES {rows_of_marks(len(some), 5)} {self._dialect.keep(_EVENT)}",
                [value for row in some for value in row],
            )

    async def delete_events(self, user_id: int) -> None:
        await self.events_era(user_id)
        self._session.at_commit("DELETE FROM {db}.events WHERE user_id = ?", (user_id,))
        self._session.at_commit(
            "UPDATE {db}.lists SET version = version + 1 WHERE mapping = ? AND from_id = ?",
            (EVENTS_LOCK, user_id),
        )

    async def erase_events(self, user_id: int) -> None:
        self._check(user_id)
        self._session.at_commit("DELETE FROM {db}.events WHERE user_id = ?", (user_id,))
        self._session.at_commit(
            f"DELETE FROM {{db}}.lists WHERE mapping = {EVENTS_LOCK} AND from_id = ?", (user_id,)
        )

    async def notify(self, notification: Notification) -> bool:
        self._check(notification.user_id)
        return await self._notifications.put(notification)

    async def mark_notifications(self, user_id: int, up_to: int | None) -> bool:
        self._check(user_id)
        return await self._notifications.mark(user_id, up_to)

    async def erase_notifications(self, user_id: int) -> None:
        self._check(user_id)
        self._notifications.erase(user_id)

    async def erase_acts(self, actor_id: int) -> None:
        self._notifications.erase_acts(actor_id)

    async def report(self, report: Report) -> bool:
        self._check(report.subject_id)
        return await self._reports.put(report)

    async def report_case(self, subject_id: int) -> Case | None:
        self._check(subject_id)
        return await self._reports.case(subject_id)

    async def decide(self, decision: Decision) -> bool:
        self._check(decision.subject_id)
        return await self._reports.decide(decision)

    async def erase_reports_by(self, reporter_id: int, limit: int) -> int:
        return await self._reports.erase_by(reporter_id, limit)

    async def erase_reports_of(self, subject_ids: Sequence[int]) -> None:
        for id in subject_ids:
            self._check(id)
        self._reports.erase(subject_ids)

    async def visits(self, user_id: int, after_generation: int) -> list[Visit]:
        self._check(user_id)
        found = await self._read_visits(user_id, after_generation)
        if found is None:
            await touch(self._session, self._dialect, [(VISITS_LOCK, user_id)])
            found = await self._read_visits(user_id, after_generation)
        return found or []

    async def add_visit(self, visit: Visit) -> None:
        self._check(visit.user_id)
        name = visit.visit.encode()
        if len(name) > codecs.MAX_KEY:
            raise ValueError(f"visit {visit.visit[:40]!r}... is longer than {codecs.MAX_KEY} bytes")
        await self._session.run(
            "tx.add_visit",
            f"INSERT INTO {{db}}.visits ({codecs.VISIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (
                visit.user_id,
                visit.generation,
                name,
                visit.chunk,
                int(visit.saved),
                visit.created,
            ),
        )
        self._session.at_commit(
            "DELETE FROM {db}.visits WHERE user_id = ? AND generation <= ?",
            (visit.user_id, visit.generation - VISITS_KEPT),
        )

    def finish(self) -> None:
        """Write the pending changes with the commit."""
        self._lists.finish()

    def _hold(self, keys: Sequence[ListKey], times: int) -> None:
        for key in keys:
            self._check(key.from_id)
            self._lists.hold(key, times)

    async def _insert_rows(self, kind: Kind, data: Sequence[bytes]) -> list[int]:
        made: list[int] = []
        for at in _batches(data):
            values = [value.decode() for value in data[at]]
            done = await self._session.run(
                "tx.insert_many",
                f"INSERT INTO {{db}}.{OBJECT_TABLES[kind]} (data) "
                f"VALUES {rows_of_marks(len(values), 1)}",
                values,
            )
            first = self._dialect.first_id(done.last_id, len(values))
            made += [ids.compose(self.shard, kind, first + n) for n in range(len(values))]
        return made

    async def _insert_keyed(self, kind: Kind, items: Sequence[tuple[bytes, bytes]]) -> None:
        # A concurrent import may have stored a key since: its object stays.
        await self._session.run(
            "tx.insert_many",
            f"INSERT INTO {{db}}.{OBJECT_TABLES[kind]} (object_key, data) "
            f"VALUES {rows_of_marks(len(items), 2)} {self._dialect.keep(('object_key',))}",
            [value for key, data in items for value in (key, data.decode())],
        )

    async def _ids_by_key(self, kind: Kind, keys: Sequence[bytes]) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        table = f"{OBJECT_TABLES[kind]}{self._dialect.by(KEYS)}"
        for at in range(0, len(keys), ROWS_A_STATEMENT):
            some = keys[at : at + ROWS_A_STATEMENT]
            rows = await self._session.run(
                "tx.keys",
                f"SELECT object_key, local_id FROM {{db}}.{table} "
                f"WHERE object_key IN ({marks(len(some))}){self._dialect.lock}",
                some,
            )
            found |= {key: ids.compose(self.shard, kind, local) for key, local in rows.rows}
        return found

    async def _neighbor(
        self, operation: str, key: ListKey, condition: str, bound: tuple[object, ...], order: str
    ) -> Edge | None:
        edges = await self._neighbors(operation, key, condition, bound, order, 1)
        return edges[0] if edges else None

    async def _neighbors(
        self,
        operation: str,
        key: ListKey,
        condition: str,
        bound: tuple[object, ...],
        order: str,
        limit: int,
    ) -> list[Edge]:
        await self.head(key)
        read = (*key, condition, *bound, order, limit)
        if read in self._neighbors_read:  # nobody else changes the list
            return list(self._neighbors_read[read])
        # The index has `active` before the sequence: one search for each of its values.
        table = f"{key.mapping.value}{self._dialect.by(PAGES)}"
        dives = [
            f"SELECT * FROM (SELECT {codecs.EDGE_COLUMNS} FROM {{db}}.{table} "
            f"WHERE from_id = ? AND active = {active} {condition} "
            f"ORDER BY sequence {order}, to_id {order} LIMIT {limit:d}) AS dive{active}"
            for active in (0, 1)
        ]
        found = await self._session.run(
            operation, " UNION ALL ".join(dives), (key.from_id, *bound) * 2
        )
        edges = sorted(map(codecs.edge, found.rows), key=lambda e: (e.sequence, e.to_id))
        self._neighbors_read[read] = (edges if order == "ASC" else edges[::-1])[:limit]
        return list(self._neighbors_read[read])

    async def _read_visits(self, user_id: int, after_generation: int) -> list[Visit] | None:
        """Read and lock the visits. Returns None if there is nothing to lock yet."""
        columns = ", ".join(f"v.{name}" for name in codecs.VISIT_COLUMNS.split(", "))
        by = self._dialect.by()
        found = await self._session.run(
            "tx.visits",
            f"SELECT {columns} FROM {{db}}.lists l{by} LEFT JOIN {{db}}.visits v{by} "
            "ON v.user_id = l.from_id AND v.generation > ? "
            f"WHERE l.mapping = {VISITS_LOCK} AND l.from_id = ? "
            f"ORDER BY v.generation{self._dialect.lock}",
            (after_generation, user_id),
        )
        if not found.rows:
            return None
        return [codecs.visit(row) for row in found.rows if row[0] is not None]

    def _table(self, id: int) -> str:
        self._check(id)
        return OBJECT_TABLES[ids.kind_of(id)]

    def _check(self, id: int) -> None:
        if ids.shard_of(id) != self.shard:
            raise ValueError(f"{id} is on shard {ids.shard_of(id)}, not on {self.shard}")


def _batches(data: Sequence[bytes]) -> list[slice]:
    """Slices of up to ROWS_A_STATEMENT objects and about BYTES_A_STATEMENT."""
    slices, start, size = [], 0, 0
    for at, value in enumerate(data):
        if at > start and (at - start == ROWS_A_STATEMENT or size + len(value) > BYTES_A_STATEMENT):
            slices.append(slice(start, at))
            start, size = at, 0
        size += len(value)
    return [*slices, slice(start, len(data))] if data else []

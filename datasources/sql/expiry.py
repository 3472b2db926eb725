"""Deletes data that is kept for a limited time: `datasources.protocols.Expiry` over SQL."""

from collections.abc import Sequence
from typing import Any

from datasources.errors import StoreError
from datasources.protocols import Forgotten
from datasources.sql.engine import Part, Session
from datasources.sql.outbox import SHARDS_AT_A_TIME
from datasources.sql.router import Router

_OLD_ANSWERS = "FROM {db}.answers WHERE created < ? ORDER BY created LIMIT ?"
_OLD_QUOTAS = "FROM {db}.quotas WHERE day < ? ORDER BY day LIMIT ?"
_OLD_EVENTS = "FROM {db}.events WHERE day < ? ORDER BY day LIMIT ?"
_OLD_NOTIFICATIONS = "FROM {db}.notifications WHERE place < ? ORDER BY place LIMIT ?"
_OLD_CASES = "FROM {db}.report_cases WHERE decided < ? ORDER BY decided LIMIT ?"
# A user's newest visit stays, because the next generation is counted from it.
_OLD_VISITS = (
    "FROM {db}.visits v WHERE v.created < ? AND v.saved = 1 AND EXISTS (SELECT 1 "
    "FROM {db}.visits n WHERE n.user_id = v.user_id AND n.generation > v.generation) "
    "ORDER BY v.created LIMIT ?"
)


class SqlExpiry:
    """See Expiry. Old rows are found in one round trip for each server, then deleted by their keys,
    in a short transaction for each shard."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def answers(self, created_before: int, limit: int) -> Forgotten:
        keys = ("viewer_id", "answer_key")
        return await self._forget("answers", keys, _OLD_ANSWERS, created_before, limit)

    async def quotas(self, days_before: int, limit: int) -> Forgotten:
        keys = ("viewer_id", "day", "subject")
        return await self._forget("quotas", keys, _OLD_QUOTAS, days_before, limit, age="day")

    async def events(self, days_before: int, limit: int) -> Forgotten:
        keys = ("user_id", "day", "pin_id", "kind")
        return await self._forget("events", keys, _OLD_EVENTS, days_before, limit, age="day")

    async def notifications(self, stored_before: int, limit: int) -> Forgotten:
        keys, old = ("user_id", "kind", "subject_id", "actor_id", "about_id"), _OLD_NOTIFICATIONS
        return await self._forget("notifications", keys, old, stored_before, limit, age="place")

    async def reports(self, decided_before: int, limit: int) -> Forgotten:
        return await self._forget(
            *("report_cases", ("subject_id",), _OLD_CASES, decided_before, limit),
            age="decided",
            beside=("reports", "report_decisions"),
        )

    async def visits(self, created_before: int, limit: int) -> Forgotten:
        keys = ("user_id", "generation")
        return await self._forget("visits", keys, _OLD_VISITS, created_before, limit)

    async def _forget(
        self,
        table: str,
        keys: Sequence[str],
        old: str,
        before: int,
        limit: int,
        *,
        age: str = "created",
        beside: Sequence[str] = (),
    ) -> Forgotten:
        """Delete old rows of a table; with each row also the rows of other tables (`beside`) that
        have the same keys."""
        gone = 0
        lost: dict[str, StoreError] = {}
        shards = self._router.topology.open_shards
        for at in range(0, len(shards), SHARDS_AT_A_TIME):
            some = shards[at : at + SHARDS_AT_A_TIME]
            places = {shard: self._router.place(shard) for shard in some}
            asked = {shard: place for shard, place in places.items() if place.server not in lost}
            parts = [Part(place, ", ".join(keys), old, (before, limit)) for place in asked.values()]
            found, failed = await self._router.read_reachable(f"expiry.{table}", parts)
            lost |= failed
            for (shard, place), rows in zip(asked.items(), found, strict=True):
                if not rows or place.server in lost:
                    continue
                try:
                    await self._delete(shard, table, keys, rows, age, before, beside)
                except StoreError as error:
                    lost[place.server] = error
                else:
                    gone += len(rows)
        return Forgotten(gone, lost)

    async def _delete(
        self,
        shard: int,
        table: str,
        keys: Sequence[str],
        rows: Sequence[Sequence[Any]],
        age: str,
        before: int,
        beside: Sequence[str],
    ) -> None:
        row = "(" + " AND ".join(f"{key} = ?" for key in keys) + ")"
        these = f"({' OR '.join([row] * len(rows))})"
        sql = f"DELETE FROM {{db}}.{table} WHERE {age} < ? AND {these}"
        args = [value for values in rows for value in values]
        names = ", ".join(keys)
        left = f"SELECT {names} FROM {{db}}.{table} WHERE {these}"

        async def run(session: Session) -> None:
            session.at_commit(sql, [before, *args])
            for other in beside:  # of a row that has changed since, all stays
                session.at_commit(
                    f"DELETE FROM {{db}}.{other} WHERE {these} AND ({names}) NOT IN ({left})",
                    [*args, *args],
                )

        await self._router.write(shard, f"expiry.{table}", run)

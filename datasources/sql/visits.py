"""Visits of the home feed on the user's shard: `datasources.protocols.VisitStore` over SQL."""

from datasources.ids import shard_of
from datasources.protocols import Visit
from datasources.sql import codecs
from datasources.sql.engine import Part, Session
from datasources.sql.router import Router


class SqlVisits:
    """See VisitStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def recent(self, user_id: int, limit: int, *, named: str | None = None) -> list[Visit]:
        conditions: list[tuple[str, tuple[object, ...]]] = [
            ("ORDER BY generation DESC LIMIT ?", (max(limit, 0),)),
            ("AND saved = 0", ()),
        ]
        if named is not None:
            conditions.append(("AND visit = ?", (named.encode(),)))
        try:
            place = self._router.place(shard_of(user_id))
        except KeyError:
            return []
        parts = [
            Part(
                place,
                codecs.VISIT_COLUMNS,
                f"FROM {{db}}.visits WHERE user_id = ? {condition}",
                (user_id, *args),
            )
            for condition, args in conditions
        ]
        read = await self._router.read("visits.recent", parts)
        by_generation = {row[1]: codecs.visit(row) for rows in read for row in rows}
        return [by_generation[generation] for generation in sorted(by_generation, reverse=True)]

    async def viewers(self, shard: int, after: int, limit: int) -> list[int]:
        condition = "FROM {db}.visits WHERE user_id > ? GROUP BY user_id ORDER BY user_id LIMIT ?"
        part = Part(self._router.place(shard), "user_id", condition, (after, max(limit, 0)))
        [rows] = await self._router.read("visits.viewers", [part])
        return [row[0] for row in rows]

    async def mark_saved(self, user_id: int, generation: int) -> None:
        async def run(session: Session) -> None:
            session.at_commit(
                "UPDATE {db}.visits SET saved = 1 WHERE user_id = ? AND generation = ?",
                (user_id, generation),
            )

        await self._router.write(shard_of(user_id), "visits.mark_saved", run)

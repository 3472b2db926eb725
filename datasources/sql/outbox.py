"""Work that follows a commit: `datasources.protocols.Outbox` over SQL."""

from itertools import islice, zip_longest

from datasources.protocols import OutboxRow
from datasources.sql import codecs
from datasources.sql.engine import Part, Session
from datasources.sql.router import Router

SHARDS_AT_A_TIME = 512


class SqlOutbox:
    """See Outbox."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def load(self, shard: int, id: int) -> OutboxRow | None:
        try:
            place = self._router.place(shard)
        except KeyError:
            return None
        part = Part(place, codecs.OUTBOX_COLUMNS, "FROM {db}.outbox WHERE id = ?", (id,))
        [rows] = await self._router.read("outbox.load", [part])
        return codecs.outbox_row(shard, rows[0]) if rows else None

    async def pending(self, created_before: int, limit: int) -> list[OutboxRow]:
        shards = self._router.topology.open_shards
        of_shards: list[list[OutboxRow]] = []
        for at in range(0, len(shards), SHARDS_AT_A_TIME):
            some = shards[at : at + SHARDS_AT_A_TIME]
            parts = [
                Part(
                    self._router.place(shard),
                    codecs.OUTBOX_COLUMNS,
                    "FROM {db}.outbox WHERE created < ? ORDER BY created, id LIMIT ?",
                    (created_before, limit),
                )
                for shard in some
            ]
            read = await self._router.read("outbox.pending", parts)
            of_shards += [
                [codecs.outbox_row(shard, row) for row in rows]
                for shard, rows in zip(some, read, strict=True)
            ]
        # The oldest of every shard first, so that no shard's long tail keeps the others waiting.
        in_turn = (row for turn in zip_longest(*of_shards) for row in turn if row is not None)
        return list(islice(in_turn, limit))

    async def advance(self, shard: int, id: int, cursor: bytes) -> None:
        async def run(session: Session) -> None:
            session.at_commit("UPDATE {db}.outbox SET progress = ? WHERE id = ?", (cursor, id))

        await self._router.write(shard, "outbox.advance", run)

    async def finish(self, shard: int, id: int) -> None:
        async def run(session: Session) -> None:
            session.at_commit("DELETE FROM {db}.outbox WHERE id = ?", (id,))

        await self._router.write(shard, "outbox.finish", run)

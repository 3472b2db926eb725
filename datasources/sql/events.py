"""Events on the user's shard: `datasources.protocols.EventStore` over SQL."""

from datasources.ids import shard_of
from datasources.protocols import PinEvent
from datasources.sql import codecs
from datasources.sql.engine import Part
from datasources.sql.router import Router


class SqlEvents:
    """See EventStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def of_user(self, user_id: int, limit: int) -> list[PinEvent]:
        try:
            place = self._router.place(shard_of(user_id))
        except KeyError:
            return []
        condition = (
            "FROM {db}.events WHERE user_id = ? ORDER BY day DESC, pin_id DESC, kind DESC LIMIT ?"
        )
        part = Part(place, codecs.EVENT_COLUMNS, condition, (user_id, max(limit, 0)))
        [rows] = await self._router.read("events.of_user", [part])
        return [codecs.event(row) for row in rows]

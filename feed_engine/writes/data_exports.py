"""Requests the file with the viewer's own data (`feed_engine.own_data`)."""

from datasources.clocks import now_ms
from datasources.errors import QuotaExceeded
from datasources.ids import Kind
from datasources.protocols import ShardTx, Stores
from datasources.records import DataExport, User
from feed_engine.outbox.change import Change, DataRequested, change
from feed_engine.own_data.requests import AGAIN_AFTER
from feed_engine.times import moment, seconds_until
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import Target


async def request_my_data(
    stores: Stores, viewer_id: int, *, key: str | None = None, at: int | None = None
) -> User:
    """Request a file with the viewer's own data, which a job makes. Returns the viewer with the
    request. Nothing happens while the file of an earlier request of the day is being made. Raises
    QuotaExceeded if there is one already, NotFound."""
    now = at if at is not None else now_ms()
    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("requestMyData", shard, viewer_id, key, Target(id=viewer_id))

    async def work(tx: ShardTx, _: None) -> Outcome[User]:
        user, raw = await access.lock(tx, User, viewer_id)
        before, saved = user.data_export, Saved(id=viewer_id)
        if before is not None and now < before.requested + AGAIN_AFTER:
            if before.ready:
                raise _too_soon(before.requested + AGAIN_AFTER, now)
            return Outcome(user, saved, Change(), durable=False)
        user = await edit(tx, user, raw, {"data_export": DataExport(requested=now)})
        task = DataRequested(user_id=viewer_id, at=now)
        return Outcome(user, saved, change(objects=[viewer_id], tasks=[task]))

    async def again(_: Saved) -> User:
        return await access.recall(stores, User, viewer_id)

    return await mutate(stores, mutation, nothing, work, again)


def _too_soon(again: int, now: int) -> QuotaExceeded:
    return QuotaExceeded(
        "You may request your data once a day: request it again from "
        f"{moment(again):%Y-%m-%d %H:%M:%S} UTC on.",
        seconds_until(again, now),
    )

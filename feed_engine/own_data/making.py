"""The tasks of a user's request for their own data: one makes the file and notifies the user, one
removes the file at its end.

A file is complete when the user's record says so. A task that is killed before that begins again,
and writes the file of the same name. The account may be deleted while the file is made, so the
record is looked at again afterwards: a file that nobody may have any more is removed at once.
"""

from tempfile import TemporaryFile

import msgspec

from datasources.clocks import now_ms
from datasources.errors import StoreUnavailable
from datasources.ids import shard_of
from datasources.protocols import Notification, NotificationKind, ShardTx, Stores
from datasources.records import User
from feed_engine.live.events import NotificationsChanged
from feed_engine.outbox.change import (
    KIND,
    Advance,
    Change,
    DataExpired,
    DataRequested,
    change,
    encode,
)
from feed_engine.own_data.archive import write_archive
from feed_engine.own_data.requests import KEPT_FOR, file_name, folder, is_ready, requested
from feed_engine.transactions import access
from feed_engine.transactions.commit import commit
from feed_engine.transactions.edit import edit


async def data_requested(
    stores: Stores, task: DataRequested, cursor: bytes | None, advance: Advance
) -> None:
    """Make the file, unless it is complete, or nobody may have it."""
    pictures, name = stores.pictures, file_name(task.user_id, task.at)
    user = await access.recall(stores, User, task.user_id)
    export = requested(user, task.at)
    if export is None or export.ready:
        if export is None or not is_ready(export, now_ms()):
            await _remove(stores, name)
        return
    if pictures is None:
        raise StoreUnavailable(
            "no files are kept here: set stores.pictures as the gateways have it"
        )
    earlier = await pictures.names(folder(task.user_id))
    await pictures.delete([it for it in earlier if it < name])
    # The file system has no name for the file, so that a process that is killed leaves nothing.
    with TemporaryFile() as file:
        await write_archive(stores, user, file)
        size = file.tell()
        file.seek(0)
        await pictures.put_file(name, file)
    if not await _complete(stores, task, size):
        await _remove(stores, name)


async def data_expired(
    stores: Stores, task: DataExpired, cursor: bytes | None, advance: Advance
) -> None:
    """Remove the file. It is no longer given, because its time is over."""
    await _remove(stores, file_name(task.user_id, task.at))


async def _complete(stores: Stores, task: DataRequested, size: int) -> bool:
    """Note in the user's record that the file is complete, and notify the user. Returns whether the
    user may have it."""
    given = False

    async def work(tx: ShardTx) -> Change | None:
        nonlocal given
        found, now = await access.lock_any(tx, User, task.user_id), now_ms()
        export = None if found is None else requested(found[0], task.at)
        given = export is not None and (not export.ready or is_ready(export, now))
        if found is None or export is None or export.ready:
            return None
        made = msgspec.structs.replace(export, ready=now, size=size)
        await edit(tx, *found, {"data_export": made})
        later = DataExpired(user_id=task.user_id, at=task.at)
        await tx.post(KIND, encode(change(tasks=[later])), delay=KEPT_FOR)
        await tx.notify(_news(task, now))
        told = NotificationsChanged(user_id=task.user_id)
        return change(objects=[task.user_id], events=[told])

    await commit(stores, shard_of(task.user_id), work)
    return given


def _news(task: DataRequested, now: int) -> Notification:
    """The notification that the file is ready. It is shown while the user may have the file."""
    return Notification(
        user_id=task.user_id,
        kind=NotificationKind.DATA_READY,
        subject_id=task.user_id,
        actor_id=task.user_id,
        about_id=task.at,
        version=1,
        at=now,
    )


async def _remove(stores: Stores, name: str) -> None:
    if stores.pictures is not None:
        await stores.pictures.delete([name])

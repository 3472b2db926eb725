"""Notifications on the user's shard: `datasources.protocols.NotificationStore` over SQL, and the
part of a transaction that writes them."""

from collections.abc import Callable

from datasources.ids import shard_of
from datasources.protocols import NOTIFICATIONS_KEPT, Inbox, Notification
from datasources.sql import codecs
from datasources.sql.dialect import Dialect, marks
from datasources.sql.engine import Part, Session
from datasources.sql.lists import touch
from datasources.sql.router import Router

LOCK = -2
"""The mapping code of the row in `lists` that locks a user's notifications."""
_HEAD = f"FROM {{db}}.lists WHERE mapping = {LOCK} AND from_id = ?"
_MARK_COLUMNS = "version" + ", 0" * codecs.NOTIFICATION_COLUMNS.count(",")
"""The mark, with as many columns as a notification: the two are read together."""
_KEY = ("kind", "subject_id", "actor_id", "about_id")
_SAME = "user_id = ? AND " + " AND ".join(f"{name} = ?" for name in _KEY)


class SqlNotifications:
    """See NotificationStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def of_user(self, user_id: int, limit: int, *, unread: bool = False) -> Inbox:
        try:
            place = self._router.place(shard_of(user_id))
        except KeyError:
            return Inbox(0, [])
        later = f"AND place > COALESCE((SELECT version {_HEAD}), 0) " if unread else ""
        condition = (
            f"FROM {{db}}.notifications WHERE user_id = ? AND active = 1 {later}"
            "ORDER BY place DESC LIMIT ?"
        )
        args = (user_id, user_id, max(limit, 0)) if unread else (user_id, max(limit, 0))
        mark = Part(place, _MARK_COLUMNS, _HEAD, (user_id,))
        listed = Part(place, codecs.NOTIFICATION_COLUMNS, condition, args)
        [marked, rows] = await self._router.read("notifications.of_user", [mark, listed])
        read_up_to = marked[0][0] if marked else 0
        return Inbox(read_up_to, [codecs.notification(row) for row in rows])


class TxNotifications:
    """The notifications that one transaction writes."""

    def __init__(self, session: Session, dialect: Dialect, clock: Callable[[], int]) -> None:
        self._session, self._dialect, self._clock = session, dialect, clock
        self._heads: dict[int, tuple[int, int]] = {}

    async def put(self, new: Notification) -> bool:
        """See ShardTx.notify."""
        last, marked = await self._head(new.user_id)
        key = (new.user_id, int(new.kind), new.subject_id, new.actor_id, new.about_id)
        found = await self._session.run(
            "tx.notification",
            f"SELECT version FROM {{db}}.notifications{self._dialect.by()} "
            f"WHERE {_SAME}{self._dialect.lock}",
            key,
        )
        if found.rows:
            if found.rows[0][0] >= new.version:
                return False
            await self._session.run(
                "tx.notify",
                f"UPDATE {{db}}.notifications SET version = ?, acted = ?, active = ? WHERE {_SAME}",
                (new.version, new.at, int(new.active), *key),
            )
            return True
        place = max(last + 1, self._clock())
        await self._forget_oldest(new.user_id)
        await self._session.run(
            "tx.notify",
            f"INSERT INTO {{db}}.notifications ({codecs.NOTIFICATION_COLUMNS}) VALUES ({marks(9)})",
            (*key, new.version, new.at, int(new.active), place),
        )
        self._set_head(new.user_id, place, marked)
        return True

    async def mark(self, user_id: int, up_to: int | None) -> bool:
        """See ShardTx.mark_notifications."""
        last, marked = await self._head(user_id)
        # A place that was never given would mark notifications that are still to come.
        read = last if up_to is None else min(up_to, last)
        if read <= marked:
            return False
        self._set_head(user_id, last, read)
        return True

    def erase(self, user_id: int) -> None:
        """See ShardTx.erase_notifications."""
        self._session.at_commit("DELETE FROM {db}.notifications WHERE user_id = ?", (user_id,))
        self._session.at_commit(
            f"DELETE FROM {{db}}.lists WHERE mapping = {LOCK} AND from_id = ?", (user_id,)
        )

    def erase_acts(self, actor_id: int) -> None:
        """See ShardTx.erase_acts."""
        self._session.at_commit("DELETE FROM {db}.notifications WHERE actor_id = ?", (actor_id,))

    async def _head(self, user_id: int) -> tuple[int, int]:
        """The last place that was given, and the place up to which the user has read. Locks the
        user's notifications."""
        if user_id in self._heads:
            return self._heads[user_id]
        self._session.will_lock([(LOCK, user_id)])
        for is_last in (False, True):
            found = await self._session.run(
                "tx.notifications",
                f"SELECT size, version {_HEAD}{self._dialect.lock}",
                (user_id,),
            )
            if found.rows or is_last:
                break
            await touch(self._session, self._dialect, [(LOCK, user_id)])
        [[last, marked]] = found.rows
        self._heads[user_id] = last, marked
        return last, marked

    async def _forget_oldest(self, user_id: int) -> None:
        """Make room for one more notification."""
        found = await self._session.run(
            "tx.oldest_notification",
            f"SELECT place FROM {{db}}.notifications{self._dialect.by('places')} "
            "WHERE user_id = ? ORDER BY place DESC LIMIT 1 OFFSET ?",
            (user_id, NOTIFICATIONS_KEPT - 1),
        )
        if found.rows:
            self._session.at_commit(
                "DELETE FROM {db}.notifications WHERE user_id = ? AND place <= ?",
                (user_id, found.rows[0][0]),
            )

    def _set_head(self, user_id: int, last: int, marked: int) -> None:
        self._heads[user_id] = last, marked
        self._session.at_commit(
            f"UPDATE {{db}}.lists SET size = ?, version = ? WHERE mapping = {LOCK} AND from_id = ?",
            (last, marked, user_id),
        )

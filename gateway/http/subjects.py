"""The users whom tokens name by their subject: found on the mod shards, and kept while their
records have the subject."""

from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import User, decode
from feed_engine.transactions.key_kinds import SUBJECT
from gateway.http.auth import Token
from loaders.objects import by_id

KEPT = 10_000
"""Subjects whose users are known in this process, at most."""


class Subjects:
    """Finds users by subjects.

    A user who was found is looked up by id the next time: the user's record says whether the
    subject is still the user's. Every change of the record drops it from the caches before its
    acknowledgement, in all processes, so this one never names a former user. A subject without a
    user is looked up each time.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._known: dict[str, int] = {}

    async def named(self, token: Token) -> Token:
        """The token with the id of its subject's user; without an id if the subject has no user.
        Raises StoreError."""
        subject = token.subject
        id = self._known.get(subject)
        if id is None or not await self._signs_in(id, subject):
            self._known.pop(subject, None)
            found = await self._stores.shards.mod.find(SUBJECT.namespace, [subject])
            id = found.get(subject)
            if id is None or not await self._signs_in(id, subject):
                return token._replace(viewer_id=None)
            if len(self._known) >= KEPT:
                del self._known[next(iter(self._known))]
            self._known[subject] = id
        return token._replace(viewer_id=id)

    async def _signs_in(self, id: int, subject: str) -> bool:
        """Whether the user signs in by the subject, also if the account was deleted: its tokens are
        refused as such."""
        user = await by_id(User, self._stores).load(id)
        if user is None:
            raw = (await self._stores.shards.objects.get([id])).get(id)
            stored = None if raw is None else decode(Kind.USER, id, raw)
            user = stored if isinstance(stored, User) and stored.deleted else None
        return user is not None and user.subject == subject

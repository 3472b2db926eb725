"""The quotas of writes: how much a viewer may write on a day (UTC), in all, of each kind, and
toward one user.

One number, `Stores.writes_per_day`, gives all bounds (`_OF_KINDS`, `TOWARD`, `UNDER`). Counts are
rows of the shard that a write commits on, in the commit itself. The counts of a viewer's writes are
on the viewer's shard. A comment commits on its pin's shard, so its part of the viewer's counts is
reserved before, while the write reads its objects, and given back if nothing was written.
"""

import asyncio
from collections.abc import Sequence

from datasources.clocks import now_ms
from datasources.errors import Exhausted, QuotaExceeded, StoreError
from datasources.ids import Kind, kind_of, shard_of
from datasources.protocols import ShardTx, Stores, Use
from feed_engine.outbox.completion import keep
from feed_engine.times import DAY, moment, seconds_until

# The subjects of a viewer's own counts. All other subjects are ids, which are larger.
WRITES, PINS, BOARDS, COMMENTS, VISITS, EVENTS, UPLOADS, USERNAMES, REPORTS = range(1, 10)
EMAILS, SUBJECTS = 10, 11
_OF_KINDS = {
    "createPin": (PINS, 4),
    "repin": (PINS, 4),
    "createUpload": (UPLOADS, 4),
    "createBoard": (BOARDS, 10),
    "createComment": (COMMENTS, 10),
    "report": (REPORTS, 100),
    "changeUserName": (USERNAMES, 2_000),
    "changeEmail": (EMAILS, 2_000),
    "linkSubject": (SUBJECTS, 2_000),
}
"""The subject of a mutation, and the part of a day's writes that it may have: a fourth, a tenth, a
hundredth, or a two-thousandth."""
_EVENTS = "recordEvents"
"""A mutation that a client sends while its viewer reads. Each event counts, apart from the writes:
reading must not use up the day's likes."""
TOWARD = 20
"""The part of a day's writes that one viewer may direct at one other user: a twentieth."""
UNDER = 100
"""The part of a day's writes that one viewer may comment under one pin: a hundredth."""
_NAMES = {
    PINS: "new pins",
    BOARDS: "new boards",
    COMMENTS: "comments",
    WRITES: "writes",
    EVENTS: "events",
    UPLOADS: "uploads",
    USERNAMES: "changes of the user name",
    EMAILS: "changes of the e-mail address",
    SUBJECTS: "linked subjects",
    REPORTS: "reports",
}


def today(now: int | None = None) -> int:
    """The first epoch ms of the day (UTC) of `now`."""
    return (now_ms() if now is None else now) // DAY * DAY


def visit(stores: Stores) -> list[Use]:
    """The use of a new visit of the home feed: a viewer may begin as many visits as writes."""
    return [Use(VISITS, 1, stores.writes_per_day)] if stores.writes_per_day else []


class Quota:
    """The counting of one mutation. `shard` is the shard of its commit. Without quotas, and for a
    writer without an account (`viewer_id` 0), it does nothing.

    If the viewer's shard can't be reached, a write on another shard goes on: the counts of its own
    shard still bound it.
    """

    def __init__(
        self, stores: Stores, name: str, shard: int, viewer_id: int, *, takes_back: bool
    ) -> None:
        self._stores, self._name, self._shard, self._viewer_id = stores, name, shard, viewer_id
        self._on = bool(stores.writes_per_day and viewer_id)
        self._takes_back = takes_back
        self._elsewhere = self._on and shard != shard_of(viewer_id)
        self._day, self._uses = 0, list[Use]()
        self._taking: asyncio.Task[None] | None = None
        self._error: StoreError | None = None

    def reserve(self) -> None:
        """Begin to take the mutation's part of the viewer's counts, if they are on another shard
        than its commit."""
        self._day, self._error = today(), None
        if self._elsewhere and not self._takes_back:
            self._taking = keep(self._change(1))

    async def reserved(self) -> None:
        """Wait until the part is taken. Raises QuotaExceeded."""
        if self._taking is not None:
            await asyncio.shield(self._taking)
        if isinstance(self._error, Exhausted):
            raise await self._exceeded(shard_of(self._viewer_id), self._of_viewer(1))

    async def use(
        self, tx: ShardTx, amount: int, *, changes: bool, toward: int, under: int
    ) -> None:
        """Count the write in its own transaction: toward a user and under a pin (0: toward nobody,
        under none), and for its viewer. `changes`: whether more is written than its answer."""
        if not self._on or (self._takes_back and changes):
            return
        most = self._stores.writes_per_day
        self._uses = [] if self._elsewhere else self._of_viewer(amount)
        if toward not in (0, self._viewer_id):
            self._uses.append(Use(toward, amount, _part(most, TOWARD)))
        if under:
            self._uses.append(Use(under, amount, _part(most, UNDER)))
        if self._uses:
            await tx.use(self._viewer_id, self._day, self._uses)

    async def exceeded(self) -> QuotaExceeded:
        """The error for a transaction that ended with Exhausted."""
        return await self._exceeded(self._shard, self._uses)

    async def give_back(self) -> None:
        """Give the reserved part back, since nothing was written."""
        if self._taking is not None:
            await asyncio.shield(keep(self._undo(self._taking)))

    def _of_viewer(self, amount: int) -> list[Use]:
        most = self._stores.writes_per_day
        if self._name == _EVENTS:
            return [Use(EVENTS, amount, most)]
        uses = [Use(WRITES, amount, most)]
        if self._name in _OF_KINDS:
            subject, part = _OF_KINDS[self._name]
            uses.append(Use(subject, amount, _part(most, part)))
        return uses

    async def _change(self, amount: int) -> None:
        async def work(tx: ShardTx) -> None:
            await tx.use(self._viewer_id, self._day, self._of_viewer(amount))

        try:
            await self._stores.shards.objects.transact(shard_of(self._viewer_id), work)
        except StoreError as error:
            self._error = error

    async def _undo(self, taking: asyncio.Task[None]) -> None:
        await asyncio.wait([taking])
        if self._error is None:
            await self._change(-1)

    async def _exceeded(self, shard: int, uses: Sequence[Use]) -> QuotaExceeded:
        async def work(tx: ShardTx) -> dict[int, int]:
            return await tx.used(self._viewer_id, self._day, [use.subject for use in uses])

        used = await self._stores.shards.objects.transact(shard, work)
        met = [use for use in uses if used.get(use.subject, 0) + use.amount > use.most]
        again = self._day + DAY
        return QuotaExceeded(
            f"An account may not make more than {_bound((met or uses)[0])} on one day: write again "
            f"from {moment(again):%Y-%m-%d %H:%M} UTC on.",
            seconds_until(again, now_ms()),
        )


def _bound(use: Use) -> str:
    if use.subject in _NAMES:
        return f"{use.most:,} {_NAMES[use.subject]}"
    if kind_of(use.subject) is Kind.PIN:
        return f"{use.most:,} comments under one pin"
    return f"{use.most:,} comments, likes, repins and follows toward one user"


def _part(most: int, part: int) -> int:
    return max(1, most // part)

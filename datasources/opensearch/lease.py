"""A right that one process of all hosts has at a time, kept as a document.

Its holder renews the document again and again. A process that sees the document unchanged for as
long as a right lasts takes the right over, and compares only times of its own clock. Each taking
has a higher term: writes of a holder that lost its right without noticing are older than the writes
of its successor.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from time import time
from typing import Any

from datasources.clocks import lease_seconds
from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.opensearch.connection import Connection

SECONDS = 10.0
"""How long a right lasts after it was renewed. After its holder was killed, another process has it
about as long after it first asked."""
RENEWALS = 4  # in the time that a right lasts
CREATION = 30.0  # seconds for the index of the locks
_TERM = 26  # bits of a version below the term: a year of two writes a second
_TICKS = 64  # of a second: the unit of a first term
_START = 1_577_836_800  # 2020-01-01, in epoch seconds: until 2088 a version has 63 bits


class Lease:
    """The right `name` to the indexes of an alias. `refused` is the message for a process that asks
    for a right that another process has."""

    def __init__(
        self, connection: Connection, locks: str, name: str, refused: str, seconds: float
    ) -> None:
        self._connection, self._locks, self._refused = connection, locks, refused
        self._path = f"/{locks}/_doc/{name}"
        self._seconds, self._deadline = seconds, seconds / 2
        self._term = self._writes = 0
        self._place: tuple[int, int] | None = (
            None  # the document's sequence number and primary term
        )
        self._valid_until = 0.0
        self._seen: tuple[int, int] | None = None
        self._seen_at = 0.0

    @asynccontextmanager
    async def held(self, *, patient: bool = False) -> AsyncIterator[None]:
        """Have the right until the end of the block. Raises StoreConflict if another process has
        it. With `patient`, the right is watched first until its holder renews it or it ends: a
        command that asks only once would never see the end of a killed holder's right."""
        holder = token_hex(8)
        if patient:
            await self._wait_and_take(holder)
        else:
            await self._take(holder)
        renewing = asyncio.create_task(self._renew(holder))
        try:
            yield
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
            # Without this, the next process would wait until the right ends.
            with suppress(StoreError):
                await self._put("")
            self._valid_until = 0.0

    def check(self) -> None:
        """Raises StoreConflict if the right was not renewed in time, so that another process may
        have it."""
        if lease_seconds() >= self._valid_until:
            raise StoreConflict(self._refused)

    def version(self) -> int:
        """A version above the versions of all earlier writes, of this holder and of earlier
        holders."""
        self._writes += 1
        return self._term << _TERM | self._writes

    async def _wait_and_take(self, holder: str) -> None:
        seen: tuple[int, int] | None = None
        while True:
            try:
                return await self._take(holder)
            except StoreConflict:
                if seen is not None and self._seen != seen:
                    raise
                seen = self._seen
            await asyncio.sleep(self._seconds / RENEWALS)

    async def _take(self, holder: str) -> None:
        found = await self._connection.get(self._path, self._deadline)
        if found.is_missing:
            await self._create_index()
            # Above all earlier terms, also if the index of the locks was deleted: a taking lasts
            # longer than a tick.
            self._term, self._place = int((time() - _START) * _TICKS), None
        else:
            known = found.document["_source"]
            place = found.document["_seq_no"], found.document["_primary_term"]
            if known["holder"] and not self._has_ended(place, float(known["seconds"])):
                raise StoreConflict(self._refused)
            self._term, self._place = int(known["term"]) + 1, place
        self._writes = 0
        try:
            await self._put(holder)
        except StoreConflict:
            raise StoreConflict(self._refused) from None

    def _has_ended(self, place: tuple[int, int], seconds: float) -> bool:
        """Whether the document was not renewed for as long as its holder's right lasts."""
        now = lease_seconds()
        if place != self._seen:
            self._seen, self._seen_at = place, now
        return now - self._seen_at > seconds

    async def _renew(self, holder: str) -> None:
        while True:
            await asyncio.sleep(self._seconds / RENEWALS)
            try:
                await self._put(holder)
            except StoreConflict:  # another process has taken the right, or an answer was lost
                if not await self._is_still_ours(holder):
                    self._valid_until = 0.0
                    return
            except StoreError:
                pass  # tried again, until `check` says that it took too long

    async def _is_still_ours(self, holder: str) -> bool:
        with suppress(StoreError):
            found = await self._connection.get(self._path, self._deadline)
            if not found.is_missing and found.document["_source"]["holder"] == holder:
                self._place = found.document["_seq_no"], found.document["_primary_term"]
                return True
        return False

    async def _put(self, holder: str) -> None:
        """Write the document if it is as this process knows it. Raises StoreConflict if not."""
        sent = lease_seconds()
        document = {"holder": holder, "term": self._term, "seconds": self._seconds}
        only = {"op_type": "create"}
        if self._place is not None:
            only = {"if_seq_no": str(self._place[0]), "if_primary_term": str(self._place[1])}
        answer = await self._connection.ask("PUT", self._path, document, self._deadline, only)
        self._place = answer.document["_seq_no"], answer.document["_primary_term"]
        self._valid_until = sent + self._seconds

    async def _create_index(self) -> None:
        """Create the index of the locks, unless it is there."""
        path = f"/{self._locks}"
        settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
        body: dict[str, Any] = {"settings": settings, "mappings": {"dynamic": False}}
        if (await self._connection.get(f"{path}/_alias", self._deadline)).is_missing:
            try:
                await self._connection.ask("PUT", path, body, CREATION)
            except StoreUnavailable:
                found = await self._connection.get(f"{path}/_alias", self._deadline)
                if found.is_missing:  # otherwise another process has created it meanwhile
                    raise

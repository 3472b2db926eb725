"""An observer, which looks at the masters, and promotes the slave of a dead master."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from datasources.errors import ConfigError, StoreConflict, StoreError
from datasources.protocols import Operations
from datasources.replication import observation
from datasources.replication.observation import Outcome, Pair, Record, Report, Rules, Sight, Silence
from datasources.replication.steps import Tell
from datasources.together import together
from datasources.topology import Topology
from gateway.operate.failover.promotion import promote
from gateway.operate.failover.resumer import Resumer
from gateway.operate.failover.work import Work, means, operators_connection
from gateway.settings import Settings

if TYPE_CHECKING:
    from datasources.mysql.replication.admin import Admin

Look = Callable[[Topology, Pair], Coroutine[Any, Any, Sight]]


class Observer:
    """One observer. `look` asks the servers of a pair. A promotion opens its own connections."""

    def __init__(
        self,
        settings: Settings,
        rules: Rules,
        look: Look,
        tell: Tell,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._settings, self._rules, self._look = settings, rules, look
        self._tell, self._clock, self._now = tell, clock, now
        self._silences: dict[Pair, Silence] = {}
        self._faults: dict[str, str] = {}
        self._decisions: dict[str, str] = {}

    async def round(self, work: Work) -> None:
        """Look at all pairs once, report the result, and promote where a promotion is due. Raises
        StoreError while ZooKeeper does not answer."""
        topology = await work.source.load()
        pairs = observation.pairs(topology)
        self._silences = {pair: self._silences.get(pair, Silence()) for pair in pairs}
        sights = await together(self._look(topology, pair) for pair in pairs)
        silent: dict[Pair, str] = {}
        for pair, sight in zip(pairs, sights, strict=True):
            seconds = self._silences[pair].seen(sight, self._clock())
            if seconds >= self._rules.after and sight.lease is not None:
                silent[pair] = sight.lease
            self._turned(pair.slave, "does not answer" if sight.lease is None else "")
            self._turned(pair.master, "is silent" if pair in silent else "")
        report = Report({pair.master: lease for pair, lease in silent.items()})
        await work.operations.report(self.name, observation.encode(report))
        for pair in pairs:
            await self._decide(work.operations, pair, silent.get(pair))

    async def _decide(self, operations: Operations, pair: Pair, cause: str | None) -> None:
        record, _ = await _recorded(operations, pair)
        decision = await self._decided(operations, pair, cause, record)
        if not decision.promote:
            self._said(pair.master, decision.told)
            return
        self._said(pair.master, f"{decision.told}; promoting {pair.slave}")
        try:
            await self._promote(pair, cause)
        except StoreError as error:
            self._tell(f"{pair.slave} is not promoted yet: {error}")

    async def _decided(
        self, operations: Operations, pair: Pair, cause: str | None, record: Record | None
    ) -> observation.Decision:
        if cause is None and not (record is not None and observation.continues(record, pair)):
            return observation.Decision(False)
        reports = map(observation.report_of, (await operations.reports()).values())
        return observation.decided(self._rules, pair, cause or "", reports, record, self._now())

    async def _promote(self, pair: Pair, cause: str | None) -> None:
        """Decide again under the lock, because another observer may have promoted in the
        meantime."""
        purpose = f"watch: promote {pair.slave}"
        async with means(self._settings, purpose, self._tell) as work:
            if pair not in observation.pairs(work.topology):
                return
            record, version = await _recorded(work.operations, pair)
            if not (await self._decided(work.operations, pair, cause, record)).promote:
                return
            if record is None or not observation.continues(record, pair):
                record = Record(pair.master, pair.slave, cause or "", self._now())
                version = await self._save(work, pair, record, version)
            try:
                await promote(work, pair.slave, pair.master)
            except (StoreConflict, ConfigError) as error:
                role = await work.admin(pair.slave).role()
                if role.owner == role.id:
                    raise  # too late to refuse: the next round continues it
                self._tell(f"{pair.slave} is not promoted: {error}")
                refused = replace(record, outcome=Outcome.REFUSED, told=str(error))
                await self._save(work, pair, refused, version)
            else:
                done = replace(record, outcome=Outcome.DONE, at=self._now())
                await self._save(work, pair, done, version)

    async def _save(self, work: Work, pair: Pair, record: Record, version: int | None) -> int:
        return await work.operations.save(pair.id, observation.encode(record), version)

    def _turned(self, server: str, fault: str) -> None:
        """Print when a server's fault begins, and when it ends."""
        before = self._faults.get(server, "")
        self._faults[server] = fault
        if fault != before:
            self._tell(f"{server} {fault or 'answers again'}")

    def _said(self, master: str, what: str) -> None:
        """Print each decision about a master once."""
        before = self._decisions.get(master, "")
        self._decisions[master] = what
        if what not in ("", before):
            self._tell(f"{master}: {what}")


async def _recorded(operations: Operations, pair: Pair) -> tuple[Record | None, int | None]:
    """The record of the pair's last promotion, and its version; None if there is no record."""
    found = await operations.load(pair.id)
    return (None, None) if found is None else (observation.record_of(found[0]), found[1])


async def watch(
    settings: Settings,
    rules: Rules,
    every: float,
    tell: Tell,
    end: asyncio.Event,
    *,
    resumes: bool = False,
) -> None:
    """Observe until `end` is set. Raises StoreError when the topology can't be read at the start;
    later the observer waits for ZooKeeper to be back."""
    async with AsyncExitStack() as opened:
        work = await opened.enter_async_context(means(settings, None, tell))
        admins = _kept_connections(opened, settings)
        observer = Observer(settings, rules, _looks(admins), tell)
        resumer = Resumer(settings, tell)
        does = [*(["promotes"] if rules.promotes else []), *(["resumes"] if resumes else [])]
        tell(f"watching; {' and '.join(does) or 'only tells'}")
        told = ""
        while not end.is_set():
            try:
                await observer.round(work)
                if resumes:
                    topology = await work.source.load()
                    await resumer.round(topology, partial(admins, topology))
                fault = ""
            except StoreError as error:
                fault = str(error)
            if fault not in ("", told):
                tell(f"nothing is decided: {fault}")
            told = fault
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await end.wait()


def _kept_connections(
    opened: AsyncExitStack, settings: Settings
) -> Callable[[Topology, str], "Admin"]:
    """A function that gives connections to servers, which stay open until `opened` is closed."""
    known: dict[tuple[str, str], Admin] = {}

    def admin(topology: Topology, name: str) -> "Admin":
        url = topology.servers[name]
        if (name, url) not in known:
            known[name, url] = operators_connection(settings, name, url)
            opened.push_async_callback(known[name, url].close)
        return known[name, url]

    return admin


def _looks(admins: Callable[[Topology, str], "Admin"]) -> Look:
    """A function that looks at pairs."""
    from datasources.mysql.replication.states import look

    async def both(topology: Topology, pair: Pair) -> Sight:
        return await look(admins(topology, pair.master), admins(topology, pair.slave))

    return both

"""`pinway shards watch`: observes the masters; with --promote, promotes a dead master's slave; with
--resume, resumes restarted servers."""

import asyncio
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from datasources.errors import ConfigError, StoreConflict, StoreError
from datasources.protocols import Operations
from datasources.replication import watching
from datasources.replication.watching import Outcome, Pair, Record, Report, Rules, Sight, Silence
from datasources.together import together
from datasources.topology import Topology
from gateway.cli.options import with_settings
from gateway.cli.promoting import promoted
from gateway.cli.resuming import Resumer
from gateway.cli.working import Work, means
from gateway.settings import Settings

Look = Callable[[Topology, Pair], Coroutine[Any, Any, Sight]]


class Observer:
    """One observer. `look` asks the servers of a pair. A promotion opens its own connections."""

    def __init__(
        self,
        settings: Settings,
        rules: Rules,
        look: Look,
        tell: Callable[[str], None],
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
        pairs = watching.pairs(topology)
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
        await work.operations.report(self.name, watching.encode(report))
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
    ) -> watching.Decision:
        if cause is None and not (record is not None and watching.continues(record, pair)):
            return watching.Decision(False)
        reports = map(watching.report_of, (await operations.reports()).values())
        return watching.decided(self._rules, pair, cause or "", reports, record, self._now())

    async def _promote(self, pair: Pair, cause: str | None) -> None:
        """Decide again under the lock, because another observer may have promoted in the
        meantime."""
        async with means(self._settings, f"watch: promote {pair.slave}") as work:
            if pair not in watching.pairs(work.topology):
                return
            record, version = await _recorded(work.operations, pair)
            if not (await self._decided(work.operations, pair, cause, record)).promote:
                return
            if record is None or not watching.continues(record, pair):
                record = Record(pair.master, pair.slave, cause or "", self._now())
                version = await self._save(work, pair, record, version)
            try:
                await promoted(work, pair.slave, pair.master, self._tell)
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
        return await work.operations.save(pair.id, watching.encode(record), version)

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
    return (None, None) if found is None else (watching.record_of(found[0]), found[1])


async def watch(
    settings: Settings,
    rules: Rules,
    every: float,
    tell: Callable[[str], None],
    end: asyncio.Event,
    *,
    resumes: bool = False,
) -> None:
    """Observe until `end` is set. Raises StoreError when the topology can't be read at the start;
    later the observer waits for ZooKeeper to be back."""
    async with AsyncExitStack() as opened:
        work = await opened.enter_async_context(means(settings, None))
        admins = _admins(opened, settings)
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


def _admins(opened: AsyncExitStack, settings: Settings) -> Callable[[Topology, str], Any]:
    """A function that gives connections to servers, which stay open."""
    from datasources.mysql.replication.admin import Admin

    known: dict[tuple[str, str], Admin] = {}

    def admin(topology: Topology, name: str) -> Admin:
        url = topology.servers[name]
        if (name, url) not in known:
            account = settings.mysql.operator_user, settings.mysql.operator_password
            known[name, url] = Admin(name, url, *account, settings.mysql.ca)
            opened.push_async_callback(known[name, url].close)
        return known[name, url]

    return admin


def _looks(admins: Callable[[Topology, str], Any]) -> Look:
    """A function that looks at pairs."""
    from datasources.mysql.replication.states import look

    async def both(topology: Topology, pair: Pair) -> Sight:
        return await look(admins(topology, pair.master), admins(topology, pair.slave))

    return both


@click.command("watch")
@click.option("--promote", is_flag=True, help="Promote the slave of a silent master.")
@click.option("--resume", is_flag=True, help="Bring restarted servers back, like `resume`.")
@click.option(
    "--quorum",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Observers that must find a master silent; also more than half of all.",
)
@click.option(
    "--after",
    type=click.FloatRange(min=1),
    default=10.0,
    show_default=True,
    help="Seconds after which a master is called silent.",
)
@click.option(
    "--cool-down",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    help="Seconds after a promotion in which the pair is not promoted again.",
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="Seconds between two observations.",
)
@with_settings
def watch_command(
    settings: Settings,
    promote: bool,
    resume: bool,
    quorum: int,
    after: float,
    cool_down: float,
    every: float,
) -> None:
    """Observe all masters until it is stopped; with --promote, promote the slave of a dead one.

    Run it on several hosts: a promotion needs --quorum of them.
    """
    rules = Rules(promote, quorum, after, cool_down)

    async def observe() -> None:
        end = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, end.set)
        await watch(settings, rules, every, click.echo, end, resumes=resume)

    asyncio.run(observe())

"""The eight drills: the fault that each applies to the servers during requests, and when."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.drills.site import Site
from deploy.stack import process
from deploy.stack.service import Service

SLOW = 0.5  # seconds: about a hundred times the duration of a call
FLAP = 3.0  # seconds
SESSION = 120.0  # seconds; HBase's session in ZooKeeper: see deploy/hbase/hbase-site.xml
ENDING = 60.0  # seconds after which HBase has ended itself at the latest


@dataclass(frozen=True)
class Plan:
    """Seconds from the start: when the fault begins, when it ends, and when the requests end."""

    begin: float
    end: float
    total: float

    @classmethod
    def of(cls, total: float) -> "Plan":
        return cls(round(total * 0.25, 1), round(total * 0.65, 1), total)

    @classmethod
    def lasting(cls, outage: float, around: float) -> "Plan":
        return cls(around, around + outage, outage + 2 * around)


Act = Callable[[Site, Plan, Callable[[float], Awaitable[None]]], Awaitable[None]]
"""Runs a drill. The last argument waits until a number of seconds after the start."""


@dataclass(frozen=True)
class Drill:
    number: int
    name: str
    says: str
    act: Act
    may_fail: bool = False  # during the fault, when both sides are dead
    most: float = 1.0  # failed requests in 10,000, at most


async def _thrift_dies(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    thrift = site.stack.services["hbase-primary-thrift"]
    await until(plan.begin)
    await asyncio.to_thread(thrift.kill)
    await until(plan.end)
    await asyncio.to_thread(thrift.start)
    await asyncio.to_thread(thrift.wait_ready)


async def _hbase_hangs(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    hbase = site.stack.services["hbase-primary"]
    await until(plan.begin)
    await asyncio.to_thread(hbase.kill, signal.SIGSTOP)
    try:
        await until(plan.end)
    finally:
        await asyncio.to_thread(hbase.kill, signal.SIGCONT)
    if plan.end - plan.begin > SESSION:
        await asyncio.to_thread(_supervise, hbase)


def _supervise(hbase: Service) -> None:
    """Restart servers as a supervisor does. HBase ends itself when it finds that it hung for longer
    than its session in ZooKeeper, and is started again."""
    hung = hbase.identity
    if hung is not None:
        process.wait_gone(hung, ENDING)
    hbase.start()
    hbase.wait_ready()


async def _half_is_slow(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    await until(plan.begin)
    for proxy in site.of("primary"):
        proxy.delay(0.5, SLOW)
    await until(plan.end)
    for proxy in site.of("primary"):
        proxy.delay(0.0, 0.0)


async def _vanishes(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    await until(plan.begin)
    for proxy in site.of("primary"):
        proxy.stall()
    await until(plan.end)
    await _mend(site, "primary")


async def _standby_dies(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    thrift = site.stack.services["hbase-standby-thrift"]
    await until(plan.begin)
    await asyncio.to_thread(thrift.kill)
    await until(plan.end)
    await asyncio.to_thread(thrift.start)
    await asyncio.to_thread(thrift.wait_ready)


async def _both_die(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    await until(plan.begin)
    await _cut(site, "primary", "standby")
    await until(min(plan.begin + 5.0, plan.end))
    await _mend(site, "primary", "standby")


async def _flaps(site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]) -> None:
    at = plan.begin
    while at < plan.end:
        await until(at)
        await _cut(site, "primary")
        await until(at + FLAP)
        await _mend(site, "primary")
        at += 2 * FLAP


async def _caches_die_too(
    site: Site, plan: Plan, until: Callable[[float], Awaitable[None]]
) -> None:
    third = (plan.end - plan.begin) / 3
    services = [
        site.stack.services[name] for name in ("hbase-primary-thrift", "redis", "memcached")
    ]
    for number, service in enumerate(services):
        await until(plan.begin + number * third)
        await asyncio.to_thread(service.kill)
    await until(plan.end)
    for service in services:
        await asyncio.to_thread(service.start)
    for service in services:
        await asyncio.to_thread(service.wait_ready)


async def _cut(site: Site, *sides: str) -> None:
    await asyncio.gather(*(proxy.cut() for side in sides for proxy in site.of(side)))


async def _mend(site: Site, *sides: str) -> None:
    await asyncio.gather(*(proxy.mend() for side in sides for proxy in site.of(side)))


DRILLS = (
    Drill(1, "killed", "the primary's Thrift server is killed, and comes back", _thrift_dies),
    Drill(2, "hangs", "the primary's HBase is stopped (SIGSTOP), and continued", _hbase_hangs),
    Drill(3, "slow", f"half of the primary's calls take {SLOW:g} s longer", _half_is_slow),
    Drill(4, "vanishes", "nothing comes through to the primary, or back", _vanishes),
    Drill(5, "standby", "the standby's Thrift server is killed, the primary lives", _standby_dies),
    Drill(6, "both", "both sides die for five seconds", _both_die, may_fail=True),
    Drill(7, "flaps", f"the primary comes and goes every {FLAP:g} s", _flaps),
    Drill(8, "caches", "as 1, then Redis dies, then memcached", _caches_die_too),
)

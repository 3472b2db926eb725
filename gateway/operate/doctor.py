"""Checks everything that a gateway needs, with advice for each fault: `pinway doctor`."""

import asyncio
import resource
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from datasources.cache_lists import text_of
from datasources.errors import ConfigError, PinwayError, StoreError
from datasources.protocols import IndexState, SearchStore, Stores
from feed_engine.writes import comment_index
from gateway.http.this_machine import closed
from gateway.observe.health import NOT_READ, PASSED_BY, WELL, readiness
from gateway.operate import cache_servers
from gateway.operate.connections import advice, shortages, wanted
from gateway.operate.imports.report import Progress
from gateway.server.shared_stores import require_shared
from gateway.settings import EMBEDDED, Settings
from gateway.site.embedded_stores import check_made

OK, WARNING, FAULT = "ok", "warning", "fault"
PYTHONS = ((3, 11), (3, 14))
FILES = 1_024  # a gateway with fewer file descriptors has little room for clients
FREE_BYTES = 1 << 30
CLOCK_SECONDS = 1.0  # tokens and feeds compare times of several machines
LAG_SECONDS = 5.0
OLDEST_JOB_SECONDS = 60.0
PATIENCE = 10.0  # seconds for a store to answer; a machine may be busy
LOOKS, BETWEEN = 3, 1.0  # looks at stores of which one has a fault, and the seconds between two
DRIVERS = {
    "mysql": ("aiomysql",),
    "hbase": ("aiohappybase",),
    "zookeeper": ("kazoo",),
    "opensearch": ("aiohttp",),
    "opensearch+tls": ("aiohttp",),
}


Ask = Callable[
    [Settings, Mapping[str, Any], Callable[[Progress], None]], Awaitable[Mapping[str, Any]]
]


class Finding(NamedTuple):
    """The outcome of one check. `advice` says what to do, unless the state is OK."""

    check: str
    state: str
    detail: str
    advice: str = ""


def of_host(settings: Settings) -> list[Finding]:
    """Checks of this process, this machine and the settings."""
    return [_python(), _packages(settings), _files(settings), _disk(settings), *_settings(settings)]


def _python() -> Finding:
    running = sys.version_info[:2]
    told = f"Python {running[0]}.{running[1]}"
    if PYTHONS[0] <= running <= PYTHONS[1]:
        return Finding("python", OK, told)
    return Finding("python", FAULT, told, "use Python 3.11 to 3.14")


def _packages(settings: Settings) -> Finding:
    stores = settings.stores
    urls = [stores.topology, stores.pools_primary, stores.feeds_primary, stores.search]
    schemes = {url.partition("://")[0] for url in urls}
    missing = []
    for scheme in schemes & DRIVERS.keys():
        for package in DRIVERS[scheme]:
            try:
                version(package)
            except PackageNotFoundError:
                missing.append(package)
    from gateway.execution.levels.writer import BUILT

    how = "compiled" if BUILT else "not compiled"
    told = f"Pinway {version('pinway')}, {how}"
    if missing:
        return Finding(
            "packages", FAULT, f"{told}; {', '.join(missing)} missing", "install them with pip"
        )
    if how != "compiled":
        return Finding(
            "packages", WARNING, told, "install gcc and python3-dev, and install Pinway again"
        )
    return Finding("packages", OK, told)


def _files(settings: Settings) -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.http.max_connections + 512
    told = f"{hard:,} file descriptors may be open, and {wanted:,} are wanted"
    if hard != resource.RLIM_INFINITY and hard < wanted:
        advice = f"raise the limit (ulimit -n {wanted}), or lower http.max_connections"
        return Finding("file descriptors", FAULT if hard < FILES else WARNING, told, advice)
    return Finding("file descriptors", OK, told)


def _disk(settings: Settings) -> Finding:
    folder = settings.data_dir.resolve()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    told = f"{free / 2**30:,.1f} GiB free at {folder}"
    if free < FREE_BYTES:
        return Finding("disk", WARNING, told, "make room, or set data_dir to another disk")
    return Finding("disk", OK, told)


def _settings(settings: Settings) -> list[Finding]:
    found = []
    try:
        require_shared(settings)
    except ConfigError as error:
        found.append(Finding("settings", FAULT, str(error), "see docs/settings.md"))
    if not settings.production and settings.stores.topology != EMBEDDED:
        found.append(
            Finding(
                "settings",
                WARNING,
                "production is off: everybody may read the schema, and GraphiQL is served",
                "set production = true, or start with --production",
            )
        )
    if line := closed(settings):
        told, _, advice = line.partition(". ")
        found.append(Finding("settings", WARNING, told, advice))
    if settings.stores.topology != EMBEDDED and not settings.auth.secret:
        found.append(
            Finding(
                "settings",
                WARNING,
                "auth.secret is not set: each host makes its own, and refuses others' tokens",
                "set the same auth.secret for all gateways",
            )
        )
    return found or [Finding("settings", OK, "they fit together")]


async def of_stores(
    settings: Settings, stores: Stores, search: SearchStore | None = None
) -> list[Finding]:
    """Checks of the stores that are open."""
    checks = [
        _states(stores),
        _outbox(stores),
        _queue(stores),
        _replication(stores),
        _connections(settings, stores),
        _clock(stores),
        _search(search),
        _comments(stores),
    ]
    found = await asyncio.gather(*checks, return_exceptions=True)
    findings = cache_list(settings, stores)
    for outcome in found:
        if isinstance(outcome, StoreError):
            continue  # its state is already reported
        if isinstance(outcome, BaseException):
            raise outcome
        findings += outcome
    return findings


def cache_list(settings: Settings, stores: Stores) -> list[Finding]:
    """Whether the settings name the memcached servers of the topology, once it has a list, and no
    change of the list was interrupted."""
    topology, check = stores.shards.objects.topology(), "memcached servers"
    if topology.caches is None:
        return []
    lists = topology.caches
    try:
        named = cache_servers.addresses_in(settings)
    except ConfigError as error:
        return [Finding(check, FAULT, str(error), "name the same cache in all gateways")]
    servers = text_of(lists.read.servers)
    told = f"list {lists.read.number} of epoch {topology.epoch}: {servers}"
    if (step := cache_servers.step_of(lists)) is not None:
        told = f"{told}; a change to {text_of(lists.wanted.servers)} has {step}"
        advice = f"if no command runs, {cache_servers.next_commands(lists)}"
        return [Finding(check, WARNING, told, advice)]
    if sorted(named) != sorted(lists.read.servers):
        told = f"{told}; the settings name {text_of(named)}, which has no effect"
        return [Finding(check, WARNING, told, f"set stores.object_cache = memcached://{servers}")]
    return [Finding(check, OK, told)]


async def of_open_stores(settings: Settings, ask: Ask) -> list[dict[str, str]]:
    """The findings of `of_stores`, from the process that has the stores open; or the reason why the
    stores can't be opened."""
    try:
        check_made(settings)
        answered = await ask(settings, {"command": "doctor"}, lambda progress: None)
        return list(answered["findings"])
    except PinwayError as error:
        return [Finding("stores", FAULT, "they can't be opened", str(error))._asdict()]


async def _states(stores: Stores) -> list[Finding]:
    """The state of each store. A fault counts if it lasts: on a busy machine, a cache may miss its
    own deadline, which is short."""
    for look in range(LOOKS):
        if look:
            await asyncio.sleep(BETWEEN)
        told = await readiness(stores, PATIENCE)
        findings = [_state(name, state) for name, state in told["stores"].items()]
        if all(finding.state == OK for finding in findings):
            break
    return findings


def _state(name: str, state: Mapping[str, str]) -> Finding:
    told = state["state"]
    if told == WELL:
        return Finding(name, OK, WELL)
    if PASSED_BY in told:  # it answered just now; a busy machine may have made calls late
        return Finding(name, WARNING, told, "run doctor again; if this stays, look at its load")
    if NOT_READ in told:
        advice = "see docs/how-to/outage.md, A cache is down, for the process that shut it"
        return Finding(name, WARNING, told, advice)
    return Finding(name, FAULT, told, f"start it, or mend its address: {state['costs']}")


async def _outbox(stores: Stores) -> list[Finding]:
    backlog = await stores.shards.outbox.backlog()
    age = 0.0 if backlog.oldest is None else time.time() - backlog.oldest / 1000
    told = (
        f"{backlog.rows:,} rows, {backlog.parked:,} of them failed, "
        f"{backlog.set_aside:,} for good; the oldest {age:,.0f} s old"
    )
    if backlog.parked:
        return [Finding("outbox", WARNING, told, "look at them with `pinway jobs list --parked`")]
    if backlog.rows and age > OLDEST_JOB_SECONDS:
        return [Finding("outbox", WARNING, told, "start a process that runs jobs: `pinway worker`")]
    return [Finding("outbox", OK, told)]


async def _queue(stores: Stores) -> list[Finding]:
    findings = []
    for lane in await stores.queue.lanes():
        told = f"{lane.jobs:,} jobs, the oldest due for {lane.oldest or 0:,.0f} s"
        late = lane.oldest is not None and lane.oldest > OLDEST_JOB_SECONDS
        advice = f"start another worker: `pinway worker --queues {lane.priority}`"
        check = f"queue {lane.priority}"
        findings.append(Finding(check, WARNING, told, advice) if late else Finding(check, OK, told))
    return findings


async def _search(search: SearchStore | None) -> list[Finding]:
    if search is None:
        return []
    check = "search index"
    try:
        status = await search.status()
    except StoreError as error:
        advice = "start the search engine, or mend stores.search: searches answer UNAVAILABLE"
        return [Finding(check, FAULT, str(error), advice)]
    if status.state is not IndexState.OK:
        told = f"{status.state.value}: {status.fault}" if status.fault else status.state.value
        advice = "start a process that runs jobs, or run `pinway search rebuild`"
        return [Finding(check, WARNING, told, advice)]
    return [Finding(check, OK, f"{status.documents:,} documents")]


async def _comments(stores: Stores) -> list[Finding]:
    """Whether the index of comments by author is complete."""
    missing, check = len(await comment_index.not_indexed(stores.shards)), "comments by author"
    if not missing:
        return [Finding(check, OK, "all are indexed")]
    shards = len(stores.shards.objects.topology().open_shards)
    told = (
        f"{missing:,} of {shards:,} shards are not indexed: the export of a user's data and the "
        "deletion of an account read all their comments"
    )
    advice = "when all gateways and workers run this version: `pinway user index-comments`"
    return [Finding(check, WARNING, told, advice)]


async def _clock(stores: Stores) -> list[Finding]:
    before = time.time()
    server = await stores.queue.now()
    after = time.time()
    off = max(before - server, server - after, 0.0)
    told = f"at most {off + after - before:.3f} s from the clock of the queue's server"
    if off > CLOCK_SECONDS:
        return [
            Finding("clock", FAULT, told, "synchronize the clocks of all hosts, as with chrony")
        ]
    return [Finding("clock", OK, told)]


async def _replication(stores: Stores) -> list[Finding]:
    topology, masters = stores.shards.objects.topology(), await stores.shards.ping()
    over = {r.slave: r.master for r in (*topology.shards, *topology.mod.ranges)}
    findings = [
        Finding(
            f"replication {master}",
            WARNING,
            "it has no slave: its writes are on one server alone",
            f"give it one: `pinway shards attach SERVER --to {master}`",
        )
        for master in sorted({r.master for r in topology.shards if r.slave is None})
        if topology.servers[master].startswith("mysql:")
    ]
    for slave, seconds in (await stores.shards.replication()).items():
        check, master = f"replication {slave}", over[slave]
        if seconds is None and masters.get(master):
            advice = f"start {master}, or take its place: `pinway shards promote {slave}`"
            findings.append(Finding(check, FAULT, f"its master {master} is away", advice))
        elif seconds is None:
            advice = f"make it follow {master} again: `pinway shards attach {slave} --to {master}`"
            findings.append(Finding(check, FAULT, "it does not replicate", advice))
        elif seconds > LAG_SECONDS:
            told, advice = f"{seconds:,.0f} s behind", "find what keeps it: disk, or a long write"
            findings.append(Finding(check, WARNING, told, advice))
        else:
            findings.append(Finding(check, OK, f"{seconds:,.0f} s behind"))
    return [*findings, *await _server_settings(stores)]


async def _server_settings(stores: Stores) -> list[Finding]:
    findings = []
    for server, faults in (await stores.shards.setting_faults()).items():
        check = f"settings {server}"
        if faults is None:
            advice = "start it, or mend its address, and run `pinway shards check`"
            findings.append(Finding(check, WARNING, "it can't be asked", advice))
        elif not faults:
            findings.append(Finding(check, OK, "as its role needs them"))
        for fault in faults or ():
            advice = f"set {fault.split()[0]} in the server's configuration"
            findings.append(Finding(check, FAULT, fault, advice))
    return findings


async def _connections(settings: Settings, stores: Stores) -> list[Finding]:
    allowed = await stores.shards.connection_limits()
    short = shortages(settings, allowed)
    return [
        Finding(f"connections {server}", WARNING, short[server], advice(settings))
        if server in short
        else Finding(
            f"connections {server}", OK, f"up to {wanted(settings):,} are opened, of {most:,}"
        )
        for server, most in allowed.items()
    ]

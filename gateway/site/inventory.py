"""The list of created data: a gateway refuses to start if some of it is missing.

A store that lost its data looks like a new store. If it were created again, it would be empty, and
nobody would notice. So the names of all databases, tables and the queue's mark are stored among the
switches beside the topology, which is not stored with the data, and each start compares them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote

from datasources.errors import ConfigError, Damaged
from datasources.factory import StoresConfig
from datasources.protocols import Stores, Switches, Table, WideColumnStore
from datasources.sql.engine import shard_at
from datasources.sql.router import places
from datasources.urls import address, mask
from datasources.waits import answer_in_time
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS

SIDES: Mapping[str, list[Table]] = {
    "pools_primary": TABLES_POOLS,
    "pools_standby": TABLES_POOLS,
    "feeds_primary": TABLES_FEEDS,
    "feeds_standby": TABLES_FEEDS,
}
STORES = ("shards", *SIDES, "queue")
"""The stores' names on the list, and for `pinway init --accept-loss`."""
_PREFIX = "made."


def made(switched: Mapping[str, str]) -> dict[str, set[str]]:
    """The names on the list, by store."""
    return {store: expand(switched.get(_PREFIX + store, "")) for store in STORES}


async def missing_before_opening(config: StoresConfig, switches: Switches) -> None:
    """Raises Damaged if the directory of a created side is missing: opening would create it."""
    known = made(await switches.load())
    for side in SIDES:
        url = getattr(config, side)
        scheme, _, path_text = url.partition("://")
        if scheme == "rocksdb" and known[side]:
            path = Path(unquote(path_text))
            if not path.is_dir() or not any(path.iterdir()):  # noqa: ASYNC240 (a look at a folder)
                raise Damaged(_lost_side(side, url))


async def check(config: StoresConfig, stores: Stores, switches: Switches) -> None:
    """Compare the stores with the list, and add stores that were created since. A store that can't
    be reached is skipped. Raises Damaged when listed data is missing, and ConfigError when data was
    never created."""
    known = made(await switches.load())
    absent = {name: server for server, names in await _absent(stores) for name in names}
    lost, never = known["shards"] & absent.keys(), absent.keys() - known["shards"]
    if lost:
        raise Damaged(_lost_shards(lost, stores, absent))
    sides = await _tables(config, stores)
    for side, found in sides.items():
        if found is not None and known[side] - found:
            raise Damaged(_lost_side(side, getattr(config, side)))
    marked = await answer_in_time(stores.queue.marked, f"queue at {address(config.queue)}")
    if known["queue"] and marked is False:
        raise Damaged(
            f"the queue at {mask(config.queue)} is empty, but it was not: another server answers "
            "there, or it lost its data. No object is lost, and unfinished work is queued again "
            "from the shards. Bring the data back, or accept it: pinway init --accept-loss queue"
        )
    unmade = [f"databases {span(never)}"] if never else []
    unmade += [
        f"tables of {side}"
        for side, found in sides.items()
        if found is not None and {table.name for table in SIDES[side]} - found
    ]
    if unmade:
        raise ConfigError(f"{', '.join(unmade)} were never made: run `pinway init` first")
    if marked is not None:
        await register(stores, switches)


async def check_lost(config: StoresConfig, stores: Stores, switches: Switches) -> None:
    """Run `check` before `pinway init` creates the stores that were never created."""
    try:
        await check(config, stores, switches)
    except Damaged:
        raise
    except ConfigError:
        return


async def register(stores: Stores, switches: Switches) -> None:
    """Add all data of the topology and this version to the list, after it was created."""
    names = span(place.database for place in places(stores.shards.objects.topology()))
    sides = {side: ",".join(sorted(t.name for t in SIDES[side])) for side in SIDES}
    await stores.queue.mark()
    new = {"shards": names, **sides, "queue": "mark"}
    known = await switches.load()
    changes = {_PREFIX + store: value for store, value in new.items()}
    if any(known.get(name) != value for name, value in changes.items()):
        await switches.change(changes)


async def new_shards(stores: Stores, switches: Switches) -> list[int]:
    """The object shards that are not on the list: this installation never finished their
    creation."""
    known = made(await switches.load())["shards"]
    listed = places(stores.shards.objects.topology())
    found = [shard_at(place) for place in listed if place.database not in known]
    return [shard for is_mod, shard in found if not is_mod]


async def accept_loss(switches: Switches, stores: Iterable[str]) -> None:
    """Remove stores from the list, so that they are created again, empty."""
    if changes := dict.fromkeys((_PREFIX + store for store in stores), None):
        await switches.change(changes)


def span(names: Iterable[str]) -> str:
    """Names with numbers at their ends in a short form: `db00000-db00015,mod00000`."""
    runs: list[list[str]] = []
    for name in sorted(names):
        if runs and _next(runs[-1][-1]) == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def expand(spans: str) -> set[str]:
    """The names that `span` shortened."""
    names: set[str] = set()
    for part in filter(None, spans.split(",")):
        first, _, last = part.partition("-")
        names.add(first)
        while last and first != last:
            first = _next(first)
            names.add(first)
    return names


def _next(name: str) -> str:
    word = name.rstrip("0123456789")
    digits = name[len(word) :]
    return f"{word}{int(digits) + 1:0{len(digits)}d}" if digits else ""


async def _absent(stores: Stores) -> list[tuple[str, list[str]]]:
    found = await answer_in_time(stores.shards.absent)  # it names its servers itself
    return list((found or {}).items())


async def _tables(config: StoresConfig, stores: Stores) -> dict[str, set[str] | None]:
    """The tables of each side; None for a side that does not answer."""
    opened: dict[str, WideColumnStore] = dict(
        zip(SIDES, [*stores.pools, *stores.feeds], strict=True)
    )
    sides_of: dict[int, list[str]] = {}
    for side, store in opened.items():
        sides_of.setdefault(id(store), []).append(side)
    found = await asyncio.gather(
        *(
            answer_in_time(
                opened[sides[0]].tables,
                f"{' and '.join(sides)} at {address(getattr(config, sides[0]))}",
            )
            for sides in sides_of.values()
        )
    )
    told = dict(zip(sides_of, found, strict=True))
    return {side: told[id(store)] for side, store in opened.items()}


def _lost_shards(lost: Iterable[str], stores: Stores, server_of: Mapping[str, str]) -> str:
    topology = stores.shards.objects.topology()
    by_server: dict[str, list[str]] = {}
    for name in sorted(lost):
        by_server.setdefault(server_of[name], []).append(name)
    told = "; ".join(
        f"{span(names)} at {mask(topology.servers[server])}" for server, names in by_server.items()
    )
    return (
        f"shards that were made are missing: {told}. Their objects are gone, unless the wrong disk "
        "is mounted or the wrong server answers: mend that, or restore a backup (pinway restore). "
        "To go on without these objects: pinway init --accept-loss shards"
    )


def _lost_side(side: str, url: str) -> str:
    other = (
        side.replace("primary", "standby")
        if "primary" in side
        else side.replace("standby", "primary")
    )
    return (
        f"the feed store {side} at {mask(url)} was made, and its data is missing: mount it, or "
        f"restore a backup or a copy of {other} that was made while nothing ran on it. To start "
        f"with empty feeds on this side: pinway init --accept-loss {side}"
    )

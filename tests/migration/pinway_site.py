"""Pinway after a cut-over: opens its stores, and writes to them like a site."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from datasources.protocols import Stores
from gateway.operate.imports.jsonl import sequence_of
from gateway.operate.migration.copying import find_old
from gateway.settings import Settings, changed, read_settings
from gateway.site.runtime import running
from tests.migration.processes import SETTINGS

NAME = "old-site"
_NONE = "1970-01-01T00:00:00+00:00"
_REFERENCES = {
    "board": {"owner": "user", "cover": "pin"},
    "pin": {"board": "board", "source": "pin"},
    "comment": {"pin": "pin", "author": "user"},
    "like": {"user": "user", "pin": "pin"},
    "follow": {"follower": "user", "user": "user", "board": "board"},
}
"""Type of line → its fields with keys, and the types to which they belong."""


@asynccontextmanager
async def pinway_stores(data: Path) -> AsyncIterator[Stores]:
    """The stores of a directory (`processes.start`), with jobs that run."""
    file = data / SETTINGS
    given = read_settings(file) if file.exists() else Settings()
    settings = changed(given, {"data_dir": data})
    async with running(settings, jobs=True) as runtime:
        yield runtime.stores


async def settled(stores: Stores) -> None:
    """Wait until all tasks are done, except tasks of a later day."""
    while True:
        if not (await stores.shards.outbox.backlog()).rows:
            return
        await asyncio.sleep(0.05)


def write(data: Path, work: Callable[[Stores], Awaitable[object]]) -> None:
    """Write to Pinway, and wait for its tasks."""

    async def run() -> None:
        async with pinway_stores(data) as stores:
            await work(stores)
            await settled(stores)

    asyncio.run(run())


async def new_ids(stores: Stores, kind: str, *old: int) -> list[int]:
    """The ids of migrated objects."""
    found = await find_old(stores, NAME, kind, [str(one) for one in old])
    return [found[str(one)] for one in old]


def content(lines: Iterable[bytes]) -> list[str]:
    """The lines of an export without keys: an object is called by its text, which no other object
    of its type has, and the places on a board are the order of its pins. Times are in seconds, and
    none where the old database has no column for them."""
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    labels = {
        (line["type"], line["key"]): f"{line['type']} {_text(line)}"
        for line in found
        if "key" in line
    }
    assert len(labels) == len({*labels.values()}), "two objects have one text"
    places: dict[str, list[tuple[int, str]]] = {}
    for line in found:
        created = int(datetime.fromisoformat(line.get("created", _NONE)).timestamp())
        if line["type"] == "pin":
            exact = int(datetime.fromisoformat(line.get("created", _NONE)).timestamp() * 1000)
            place = int(line.pop("sequence", 0)) or sequence_of(line["key"], exact)
            places.setdefault(line["board"], []).append((place, line.get("title", "")))
        line["created"] = created if line["type"] not in ("comment", "follow") else 0
        for field, kind in _REFERENCES.get(line["type"], {}).items():
            if field in line:
                line[field] = labels[kind, line[field]]
        line.pop("key", None)
    orders = [
        json.dumps([labels["board", board], [title for _, title in sorted(pins)]])
        for board, pins in places.items()
    ]
    return sorted([*(json.dumps(line, sort_keys=True) for line in found), *orders])


def _text(line: dict[str, Any]) -> str:
    return str(line.get("username") or line.get("name") or line.get("title") or line.get("text"))

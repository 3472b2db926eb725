"""Fills the stores with the demo's content, through the same loader as every import."""

from collections.abc import Iterator
from pathlib import Path

from datasources.protocols import Stores
from feed_engine.transactions.key_kinds import USERNAME
from gateway.demo.content import demo_lines
from gateway.demo.people import VIEWER
from gateway.operate.imports.jsonl import canonical
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions, OnProgress

# a claim in the mod shards, made when the content is complete
_DONE, _VERSION = "demo", "content-1"


async def demo_is_loaded(stores: Stores) -> bool:
    """Whether the content was once filled in completely, including feeds."""
    return _VERSION in await stores.shards.mod.find(_DONE, [_VERSION])


async def demo_viewer_id(stores: Stores) -> int | None:
    """The id of the user `demo`: the development server signs visitors in as this user."""
    return (await stores.shards.mod.find(USERNAME.namespace, [VIEWER])).get(VIEWER)


async def fill_demo(stores: Stores, data_dir: Path, progress: OnProgress) -> None:
    """Fill in missing content. Raises ImportStopped if another user has one of its user names, and
    stores' errors. It may be run again after any error."""
    options = ImportOptions(strict=True, spool_dir=str(data_dir))
    await import_entries(stores, _entries(), options=options, progress=progress)
    viewer = await demo_viewer_id(stores)
    assert viewer is not None
    await stores.shards.mod.claim(_DONE, _VERSION, viewer)


def _entries() -> Iterator[Entry]:
    for number, line in enumerate(demo_lines(), 1):
        yield Entry(number, line, canonical(line))

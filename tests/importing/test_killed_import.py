"""An import that is killed repeatedly and then run to its end loses nothing, and stores nothing
twice."""

import asyncio
import dataclasses
import json
import os
import random
import signal
from pathlib import Path

import pytest

from datasources.factory import StoresConfig
from datasources.valkey import ValkeyServer
from feed_engine.feeds.rows import FOLLOWING
from tests import forked
from tests.audit import audit
from tests.embedded_stores import embedded_config, embedded_stores
from tests.importing.conftest import forget
from tests.importing.files import give
from tests.importing.worlds import canonical_set, large
from tests.scale import scaled, seed

pytestmark = pytest.mark.anyio

KILLS = scaled(3, 7)


async def test_an_import_killed_at_random_seams_ends_as_if_it_had_never_been(
    valkey: ValkeyServer, tmp_path: Path
) -> None:
    world = b"\n".join(large(400, seed=3))
    path = tmp_path / "world.jsonl"
    path.write_bytes(world)
    whole = await made(valkey, tmp_path / "whole")
    # A second run has fewer seams, because users and interests already exist.
    seams = min([int(await run(whole, path, 0)) for _ in range(2)])
    assert seams > 100
    config = await made(valkey, tmp_path / "killed")
    for last in sorted(random.Random(seed("killed")).sample(range(1, seams + 1), KILLS)):
        await run(config, path, last)
    await run(config, path, 0)
    assert [entry.name for entry in os.scandir(tmp_path) if entry.is_file()] == ["world.jsonl"]
    async with embedded_stores(config) as stores:
        assert canonical_set(await give(stores)) == canonical_set(world)
        assert await audit(stores) == []
        following = [row async for row, _ in stores.feeds.primary.scan(FOLLOWING)]
        assert following
        assert following == [row async for row, _ in stores.feeds.standby.scan(FOLLOWING)]


async def made(valkey: ValkeyServer, directory: Path) -> StoresConfig:
    """New stores, closed: only one process at a time may have RocksDB open."""
    await forget(valkey)
    os.mkdir(directory)
    config = embedded_config(directory, valkey)
    async with embedded_stores(config):
        return config


async def run(config: StoresConfig, path: Path, last: int) -> str:
    """Run an import in a separate process, which is killed at its seam `last`, or runs to its end
    (0). Returns its output."""
    order = {"config": dataclasses.asdict(config), "path": str(path), "last": last}
    done = await asyncio.to_thread(forked.run, "tests.importing.killed_import", json.dumps(order))
    assert done.returncode == (-signal.SIGKILL if last else 0), done.stderr
    return done.stdout

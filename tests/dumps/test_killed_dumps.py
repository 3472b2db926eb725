"""A dump that is killed and run again keeps its finished parts, and has each row once."""

import json
import random
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from datasources.sqlite import SqliteShards
from datasources.topology import dump
from gateway.operate.dumps.manifest import FINISHED, NAME, UNFINISHED, Manifest, decode
from gateway.operate.dumps.places import opened
from tests.dumps.filled_shards import fill, sums_of_dump, sums_of_shards
from tests.embedded_stores import sqlite_topology
from tests.forked import run

pytestmark = pytest.mark.anyio
KILLS = 3


def dumping(topology: Path, to: Path, last: int) -> "subprocess.CompletedProcess[str]":
    order = json.dumps({"topology": str(topology), "to": str(to), "last": last, "since": ""})
    return run("tests.dumps.killed_dump", order)


def manifest_in(to: Path) -> Manifest:
    return decode((to / NAME).read_bytes(), str(to))


def written(to: Path, manifest: Manifest) -> dict[str, int]:
    """When each file that the manifest names was written."""
    return {file.name: (to / file.name).stat().st_mtime_ns for file in manifest.files}


async def test_a_killed_dump_goes_on_and_has_each_row_once(tmp_path: Path) -> None:
    topology = sqlite_topology(tmp_path / "shards")
    shards = SqliteShards(topology, "OFF")
    await shards.create()
    for shard in topology.open_shards:
        await fill(shards, shard)
    file = tmp_path / "topology.json"
    file.write_bytes(dump(topology))
    whole = dumping(file, tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    seams = int(whole.stdout)
    stored = await sums_of_shards(shards)
    assert sums_of_dump(tmp_path / "whole") == stored
    to, kept = tmp_path / "killed", dict[str, int]()
    for _ in range(KILLS):
        done = dumping(file, to, random.randint(3, seams // (KILLS + 1)))
        assert done.returncode == -signal.SIGKILL, done.stderr
        manifest = manifest_in(to)
        assert manifest.state == UNFINISHED
        files = written(to, manifest)
        assert kept.items() <= files.items()  # finished parts are not written again
        kept = files
        for part in manifest.parts:
            assert manifest.moments[part.moment].taken
    ended = dumping(file, to, 0)
    assert ended.returncode == 0, ended.stderr
    manifest = manifest_in(to)
    assert manifest.state == FINISHED
    assert kept.items() <= written(to, manifest).items()
    assert len({(part.table, part.shard) for part in manifest.parts}) == len(manifest.parts)
    assert len(manifest.moments) > len(topology.open_shards)
    assert {msgspec.structs.replace(file, sha256="") for file in manifest.files} == {
        msgspec.structs.replace(file, sha256="") for file in manifest_in(tmp_path / "whole").files
    }
    async with opened(str(to)) as place:
        assert set(await place.names("")) == {NAME, *(file.name for file in manifest.files)}
    assert sums_of_dump(to) == stored
    await shards.close()

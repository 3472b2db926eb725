"""`pinway migrate back` from shards on MariaDB servers, whose slaves are read."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from deploy.stack import Stack
from tests.migration.old_world import OldDatabase
from tests.migration.pinway_site import content
from tests.migration.pinway_writer import PinwaySite
from tests.migration.processes import (
    SETTINGS,
    back,
    copied,
    cut_over,
    exported,
    killed_at,
    killed_later,
)
from tests.real.configurations import first_shard
from tests.scale import scaled, seeds
from tests.servers import mysql_servers

KILLED = "tests.migration.killed_back"
KILLS = scaled(1, 4)
WRITES = 100
SHARDS = 2  # on each server


class World(NamedTuple):
    """A mapping file, the directory of a Pinway on servers, and the start of its users' names: the
    servers may have the shards of other tests, too."""

    file: Path
    data: Path
    prefix: str


@pytest.fixture
def world(old: OldDatabase, databases: Stack, tmp_path: Path) -> Iterator[World]:
    run = secrets.token_hex(3)
    file = old.mapping_of_way_back(tmp_path, {"name: old-site": f"name: old-{run}"})
    old.run(f"UPDATE old.members SET login = CONCAT('{run}.', login)")
    data = tmp_path / "data"
    data.mkdir()
    (data / "topology.json").write_text(json.dumps(topology(databases)))
    mysql = {name: databases.settings[f"mysql.{name}"] for name in ("user", "password")}
    (data / SETTINGS).write_text(
        f'[stores]\ntopology = "file://{data}/topology.json"\n'
        f"[mysql]\nuser = {json.dumps(mysql['user'])}\npassword = {json.dumps(mysql['password'])}\n"
    )
    yield World(file, data, f"{run}.")
    old.run("SET GLOBAL read_only = OFF")


def topology(databases: Stack) -> dict[str, object]:
    """Four shards of this test alone, and the mod shards of the stack, with their slaves."""
    whole = json.loads(databases.topology_file.read_text())
    first = first_shard(databases)
    shards = [
        {**given, "range": [first + n * SHARDS, first + (n + 1) * SHARDS - 1]}
        for n, given in enumerate(whole["shards"])
    ]
    return {**whole, "servers": mysql_servers(databases), "shards": shards}


@pytest.mark.parametrize("run", seeds(1, 5))
@pytest.mark.timeout(1800)
def test_nothing_is_missed_or_doubled_under_writes_and_kills(
    world: World, tmp_path: Path, run: int
) -> None:
    file, data, random = world.file, world.data, Random(run)
    copied(file, data)
    cut_over(file, data)
    with PinwaySite(data, run, prefix=world.prefix) as site:
        for _ in range(KILLS):
            killed_later(random, "back", str(file), data=data)
            last = random.randrange(1, 120)
            killed_at(last, file, data, "back", "--until-caught-up", module=KILLED)
        site.wait_for(WRITES)
    back(file, data, "--until-caught-up")
    assert back(file, data, "--compare")["differences"] == []
    assert back(file, data, "--end")["ended"]
    copied(file, tmp_path / "fresh")
    assert content(exported(data)) == content(exported(tmp_path / "fresh"))

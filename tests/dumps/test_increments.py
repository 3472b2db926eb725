"""Increments of shards on MariaDB: the full dump and its increments are, row by row, a later full
dump."""

import json
import random
import signal
import subprocess
from pathlib import Path

import msgspec
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from datasources.errors import ConfigError
from datasources.mysql import MySqlShards
from datasources.sqlite import SqliteShards
from datasources.topology import dump
from gateway.cli import main
from gateway.operate.dumps.manifest import FINISHED, NAME, UNFINISHED, Manifest, decode, encode
from gateway.operate.dumps.sources import changed_rows
from gateway.operate.dumps.tables import SCHEMA, TABLES
from tests.dumps.filled_shards import dumped, fill
from tests.dumps.logged_shards import (
    administer,
    change,
    differences,
    increment,
    opened_shards,
    purge,
    topology,
)
from tests.embedded_stores import sqlite_topology
from tests.forked import run

pytestmark = pytest.mark.anyio
KILLS = 3


def manifest_in(to: Path) -> Manifest:
    return decode((to / NAME).read_bytes(), str(to))


async def filled(port: int, first: int, count: int) -> MySqlShards:
    shards = opened_shards(topology(port, first, count))
    await shards.create()
    for shard in range(first, first + count):
        await fill(shards, shard)
    return shards


async def test_a_full_dump_and_its_increments_are_a_later_full_dump(
    port: int, tmp_path: Path
) -> None:
    rng = random.Random(1)
    shards = await filled(port, 0, 2)
    await dumped(shards, tmp_path / "dump")
    await change(shards, 0, rng)
    await change(shards, 1, rng)
    first = await increment(shards, tmp_path / "dump", tmp_path / "changes/1")
    assert (first.state, first.number, first.faults) == (FINISHED, 1, 0)
    await change(shards, 1, rng)
    await change(shards, 1, rng)
    await shards.close()
    grown = await filled(port, 2, 1)  # a new shard
    await grown.close()
    shards = opened_shards(topology(port, 0, 3))
    second = await increment(shards, tmp_path / "changes/1", tmp_path / "changes/2")
    await dumped(shards, tmp_path / "full")
    whole = manifest_in(tmp_path / "full")
    of_new = [sum(p.rows for p in one.parts if p.shard == 2) for one in (second, whole)]
    assert of_new[0] == of_new[1] > 0
    assert second.rows - of_new[0] < whole.rows - of_new[1]
    assert differences(tmp_path, "full") == {}
    assert sum(part.rows for part in second.parts if part.shard == 0) == 0
    third = await increment(shards, tmp_path / "changes/2", tmp_path / "changes/3")
    assert third.rows == 0
    assert differences(tmp_path, "full") == {}
    await shards.close()


async def test_an_increment_tells_the_kinds_of_changes_and_its_number_in_each_file(
    port: int, tmp_path: Path
) -> None:
    shards = await filled(port, 10, 1)
    await dumped(shards, tmp_path / "dump")
    await change(shards, 10, random.Random(2))
    manifest = await increment(shards, tmp_path / "dump", tmp_path / "one")
    await shards.close()
    changes = dict.fromkeys(("upsert", "delete"), 0)
    for file in manifest.files:
        found = pyarrow.parquet.read_table(tmp_path / "one" / file.name, partitioning=None)
        told = found.schema.metadata
        assert (told[b"pinway.increment"], told[b"pinway.schema"]) == (b"1", str(SCHEMA).encode())
        for row in found.to_pylist():
            changes[row["change"]] += 1
            assert row["increment"] == 1
            if row["change"] == "delete":
                kept = {name for name, value in row.items() if value is not None}
                assert kept in (
                    {"id", "change", "increment"},
                    {"from_id", "to_id", "change", "increment"},
                )
    assert changes["delete"] >= 4
    assert changes["upsert"] >= 7


async def test_a_killed_increment_goes_on_and_has_each_change(port: int, tmp_path: Path) -> None:
    shards = await filled(port, 20, 2)
    await dumped(shards, tmp_path / "dump")
    rng = random.Random(3)
    file = tmp_path / "topology.json"
    file.write_bytes(dump(topology(port, 20, 2)))

    def incrementing(to: Path, last: int) -> "subprocess.CompletedProcess[str]":
        since = str(tmp_path / "dump")
        order = {"topology": str(file), "to": str(to), "last": last, "since": since}
        return run("tests.dumps.killed_dump", json.dumps(order))

    await change(shards, 20, rng)
    await change(shards, 21, rng)
    whole = incrementing(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    seams, to = int(whole.stdout), tmp_path / "changes/1"
    done = set[str]()
    for _ in range(KILLS):
        killed = incrementing(to, random.randint(3, seams // (KILLS + 1)))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        manifest = manifest_in(to)
        assert manifest.state == UNFINISHED
        files = {file.name for file in manifest.files}
        assert done <= files  # finished parts are not written again
        done = files
        await change(shards, rng.choice((20, 21)), rng)
    ended = incrementing(to, 0)
    assert ended.returncode == 0, ended.stderr
    assert len(manifest_in(to).moments) > 1
    # Parts of several moments: the next increment begins at the earliest of them.
    await increment(shards, to, tmp_path / "changes/2")
    await dumped(shards, tmp_path / "full")
    await shards.close()
    assert differences(tmp_path, "full") == {}


async def test_a_log_that_was_purged_is_told(port: int, tmp_path: Path) -> None:
    shards = await filled(port, 30, 1)
    await dumped(shards, tmp_path / "dump")
    await change(shards, 30, random.Random(4))
    await purge(port)
    await change(shards, 30, random.Random(5))
    with pytest.raises(ConfigError, match=r"no longer begins before .*purged.*Make a full dump"):
        await increment(shards, tmp_path / "dump", tmp_path / "one")
    await shards.close()


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE db{0:05d}.pins",
        "DROP DATABASE db{0:05d}",
        "RENAME TABLE db{0:05d}.pins TO db{0:05d}.x",
    ],
)
async def test_a_statement_that_changes_rows_without_telling_them_is_told(
    port: int, tmp_path: Path, statement: str
) -> None:
    number = 40 + len(statement)
    shards = await filled(port, number, 1)
    await dumped(shards, tmp_path / "dump")
    await administer(
        port, f"CREATE TABLE db{number:05d}.mine (a INT)", f"DROP TABLE db{number:05d}.mine"
    )
    assert (await increment(shards, tmp_path / "dump", tmp_path / "one")).rows == 0
    await administer(port, statement.format(number))
    await shards.create()
    if "RENAME" in statement:
        await administer(port, f"DROP TABLE IF EXISTS db{number:05d}.pins, db{number:05d}.x")
        await shards.create()
    message = rf"does not tell all changes of db{number:05d}, because of the statement .*full dump"
    with pytest.raises(ConfigError, match=message):
        await increment(shards, tmp_path / "dump", tmp_path / "two")
    await shards.close()


async def test_a_shard_that_moved_since_the_dump_is_told(port: int, tmp_path: Path) -> None:
    shards = await filled(port, 80, 1)
    manifest = await dumped(shards, tmp_path / "dump")
    [moment] = manifest.moments
    manifest.moments = [msgspec.structs.replace(moment, server="Another")]
    (tmp_path / "dump" / NAME).write_bytes(encode(manifest))
    with pytest.raises(ConfigError, match=r"shard 80 was on Another when the dump in .* was made"):
        await increment(shards, tmp_path / "dump", tmp_path / "one")
    await shards.close()


async def test_embedded_shards_are_told_to_have_no_log(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    await shards.create()
    manifest = await dumped(shards, tmp_path / "dump")
    with pytest.raises(ConfigError, match="SQLite files, which have no log of their changes"):
        changed_rows(shards, manifest, "dump")
    await shards.close()


async def test_a_table_that_the_earlier_dump_lacks_is_whole(port: int, tmp_path: Path) -> None:
    shards = await filled(port, 90, 1)
    manifest = await dumped(shards, tmp_path / "dump")
    # As an earlier version of Pinway, which had one mapping less, would have left it.
    manifest.parts = [part for part in manifest.parts if part.table != "user_likes_pins"]
    manifest.schema = 0
    (tmp_path / "dump" / NAME).write_bytes(encode(manifest))
    found = await increment(shards, tmp_path / "dump", tmp_path / "one")
    await shards.close()
    assert {part.table for part in found.parts if part.rows} == {"user_likes_pins"}
    assert found.since is not None
    assert (found.since.schema, found.schema) == (0, SCHEMA)
    assert {file.name.partition("/")[0] for file in found.files} == set(TABLES)


def test_a_dump_that_no_increment_can_follow_is_told(tmp_path: Path) -> None:
    data = ["--data-dir", str(tmp_path / "data")]

    def pinway(*words: str) -> str:
        done = CliRunner().invoke(main, [*words, *data])
        return done.output if done.exit_code == 0 else f"refused: {done.output}"

    to = str(tmp_path / "dump")
    assert "refused" not in pinway("init")
    assert "has no dump: name the folder of the last dump" in pinway(
        "dump", "--to", str(tmp_path / "one"), "--since", str(tmp_path / "none")
    )
    assert "refused" not in pinway("dump", "--to", to, "--by", "year")
    one = ["dump", "--to", str(tmp_path / "one"), "--since", to]
    assert "SQLite files, which have no log" in pinway(*one, "--by", "year")
    assert "is by year: take --by year" in pinway(*one)
    same = ["dump", "--to", f"{to}/", "--since", to, "--by", "year", "--replace"]
    assert "is the dump that the increment follows: name a new place" in pinway(*same)
    manifest = manifest_in(Path(to))
    for changed, told in (
        ({"state": UNFINISHED}, "is unfinished: finish it first"),
        ({"source": "zookeeper://else"}, "is of zookeeper://else, not of "),
        ({"schema": SCHEMA + 1}, "which knows more columns: take that version, or make a full"),
    ):
        other = msgspec.structs.replace(manifest, **changed)
        (Path(to) / NAME).write_bytes(encode(other))
        assert told in pinway(*one, "--by", "year")
    assert not (tmp_path / "one").exists()
    assert not (tmp_path / "none").exists()

"""The servers of the measurement: a separate MariaDB, or SQLite, with all other stores embedded."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from datasources.factory import StoresConfig, close_stores, open_stores
from datasources.ids import Kind, compose, shard_of
from datasources.mappings import Mapping
from datasources.mysql import MySqlShards
from datasources.protocols import Stores
from datasources.records import Board
from datasources.sqlite import SqliteShards
from datasources.topology import Topology
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from deploy.stack.mariadb import MariaDB
from feed_engine import writes
from feed_engine.outbox.completion import settle

BUFFER_POOL = 3 << 30  # bytes: a board of ten million pins has 2 GB of rows and indexes
FIRST_MS = 1_600_000_000_000
_CODE = Mapping.BOARD_HAS_PINS.code


@dataclass
class Rig:
    """Open stores, and the counts of their round trips."""

    name: str
    stores: Stores
    master: MariaDB | None
    folder: Path
    login: tuple[str, str]
    """The name and password that the stores use."""
    trips: Counter[str] = field(default_factory=Counter)
    _loaded: int = 0

    async def board(self, owner_id: int, pins: int) -> "BigBoard":
        """A new board with `pins` pins, loaded in bulk, a millisecond apart."""
        made = await writes.create_board(
            self.stores, owner_id, writes.NewBoard(name=f"{pins:,} pins", secret=False)
        )
        first = self._loaded + 1
        self._loaded += pins
        await settle()  # the write's background work
        board = BigBoard(made.board, pins, first)
        if self.master is not None:
            _load_mariadb(self.master, board)
        else:
            _load_sqlite(self.folder, board)
        return board

    async def user(self) -> int:
        name = f"bench{self._loaded}x{time.time_ns()}"
        return (await writes.sign_up(self.stores, writes.NewUser(username=name))).id


@dataclass(frozen=True)
class BigBoard:
    """A board. Pin number n, from 0, is the n-th from the bottom before any move."""

    board: Board
    pins: int
    first: int

    def pin(self, number: int) -> int:
        return compose(shard_of(self.board.id), Kind.PIN, self.first + number)


@asynccontextmanager
async def mariadb(folder: Path) -> AsyncIterator[Rig]:
    """A MariaDB server and its slave in `folder`, started for this run only."""
    stack = Stack(folder / "stack", shards=1, mod_shards=1)
    stack.up(set_up_only=True)
    master, slave = stack.services["mysql001a"], stack.services["mysql001b"]
    assert isinstance(master, MariaDB)
    for server in (master, slave):
        server.start()
    try:
        for server in (master, slave):
            server.wait_ready()
        master.query(f"SET GLOBAL innodb_buffer_pool_size = {BUFFER_POOL}; SET GLOBAL userstat = 1")
        settings = stack.settings
        async with _rig(
            "MariaDB",
            folder,
            f"mysql://127.0.0.1:{master.port}",
            settings["mysql.user"],
            settings["mysql.password"],
        ) as rig:
            rig.master = master
            yield rig
    finally:
        master.stop()
        slave.stop()


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Rig]:
    async with _rig("SQLite", folder, f"sqlite://{folder}/shards", "", "") as rig:
        yield rig


@asynccontextmanager
async def _rig(
    name: str, folder: Path, server: str, user: str, password: str
) -> AsyncIterator[Rig]:
    place = [{"range": [0, 0], "master": "only"}]
    topology = folder / f"{name}.json"
    topology.write_text(
        json.dumps(
            {
                "epoch": 1,
                "servers": {"only": server},
                "shards": place,
                "mod": {"count": 1, "ranges": place},
            }
        )
    )
    (folder / f"valkey-{name}").mkdir()
    async with ValkeyServer(folder / f"valkey-{name}") as valkey:
        config = StoresConfig(
            topology=f"file://{topology}",
            object_cache="memory://?max_bytes=67108864",
            mapping_cache=valkey.url(0),
            queue=valkey.url(1),
            pools_primary=f"rocksdb://{folder}/{name}-pools",
            pools_standby=f"rocksdb://{folder}/{name}-pools-standby",
            feeds_primary=f"rocksdb://{folder}/{name}-feeds",
            feeds_standby=f"rocksdb://{folder}/{name}-feeds-standby",
            mysql_user=user,
            mysql_password=password,
        )
        stores = await open_stores(config)
        rig = Rig(name, stores, None, folder, (user, password))
        counted = _counted(stores.shards.objects.topology(), user, password, rig.trips)
        await stores.shards.close()
        rig.stores = stores._replace(shards=counted)
        try:
            await rig.stores.shards.create()
            yield rig
            await settle()
        finally:
            await close_stores(rig.stores)


def _counted(
    topology: Topology, user: str, password: str, trips: Counter[str]
) -> MySqlShards | SqliteShards:
    def observe(_: str, operation: str) -> None:
        trips[operation] += 1

    if user:
        return MySqlShards(topology, user=user, password=password, observe=observe, deadline=60.0)
    return SqliteShards(topology, observe=observe, deadline=60.0)


def _load_mariadb(master: MariaDB, board: BigBoard) -> None:
    shard = shard_of(board.board.id)
    base = compose(shard, Kind.PIN, board.first)
    script = (
        f"SET SESSION sql_log_bin = 0; SET unique_checks = 0; SET foreign_key_checks = 0; "
        f"USE db{shard:05d}; "
        "INSERT INTO board_has_pins (from_id, to_id, sequence, version, active) "
        f"SELECT {board.board.id}, {base} + seq, "
        f"CONCAT({FIRST_MS} + seq, '{'0' * 25}'), 1, 1 FROM seq_0_to_{board.pins - 1}; "
        f"REPLACE INTO lists (mapping, from_id, size, version) VALUES "
        f"({_CODE}, {board.board.id}, {board.pins}, {board.pins});"
    )
    master.query(script, timeout=1800)


def _load_sqlite(folder: Path, board: BigBoard) -> None:
    shard = shard_of(board.board.id)
    base = compose(shard, Kind.PIN, board.first)
    database = sqlite3.connect(folder / "shards" / f"db{shard:05d}.sqlite", timeout=60)
    database.executescript(
        f"""
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -1000000;
        BEGIN IMMEDIATE;
        INSERT INTO board_has_pins (from_id, to_id, sequence, version, active)
        WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n LIMIT {board.pins})
        SELECT {board.board.id}, {base} + n, ({FIRST_MS} + n) || '{"0" * 25}', 1, 1 FROM n;
        INSERT OR REPLACE INTO lists (mapping, from_id, size, version)
        VALUES ({_CODE}, {board.board.id}, {board.pins}, {board.pins});
        COMMIT;
        PRAGMA wal_checkpoint(TRUNCATE);
        """
    )
    database.close()

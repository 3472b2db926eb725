"""The peers of a reorder: rewriting positions, and fractional indexing's text keys.

Each runs in its own transaction on the same server, with the board's row locked as ours is, but
without outbox, fence, caches and access checks. So the peers have an advantage.
"""

import random
from collections.abc import Awaitable, Callable

import aiomysql
from fractional_indexing import generate_key_between, generate_n_keys_between

from bench.order.measures import CLIENTS
from bench.order.servers import Rig

Work = Callable[[int], Awaitable[None]]
_TABLES = """
DROP TABLE IF EXISTS {db}.peer_boards, {db}.peer_positions, {db}.peer_keys;
CREATE TABLE {db}.peer_boards (id INT PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE {db}.peer_positions (board INT, pin INT, place INT,
  PRIMARY KEY (board, pin), KEY (board, place)) ENGINE=InnoDB;
CREATE TABLE {db}.peer_keys (board INT, pin INT, place VARBINARY(700),
  PRIMARY KEY (board, pin), KEY (board, place)) ENGINE=InnoDB;
"""


class Peers:
    """Boards numbered from 0, each with `pins` pins."""

    def __init__(self, rig: Rig, boards: int, pins: int) -> None:
        self._rig, self._boards, self._pins = rig, boards, pins
        self._chooser = random.Random(3)
        self._pool: aiomysql.Pool | None = None

    async def open(self) -> None:
        assert self._rig.master is not None
        self._pool = await aiomysql.create_pool(
            *(CLIENTS, CLIENTS),
            host="127.0.0.1",
            port=self._rig.master.port,
            user=self._rig.login[0],
            password=self._rig.login[1],
            db="db00000",
            autocommit=False,
        )
        last, first = self._boards - 1, "SET SESSION sql_log_bin = 0; USE db00000;"
        self._rig.master.query(_TABLES.format(db="db00000"))
        self._rig.master.query(
            f"{first} INSERT INTO peer_boards SELECT seq FROM seq_0_to_{last}; "
            "INSERT INTO peer_positions SELECT b.seq, p.seq, p.seq "
            f"FROM seq_0_to_{last} b, seq_0_to_{self._pins - 1} p",
            timeout=600,
        )
        keys = enumerate(generate_n_keys_between(None, None, self._pins))
        values = ",".join(f"({pin},'{key}')" for pin, key in keys)
        self._rig.master.query(
            f"{first} CREATE TEMPORARY TABLE k (pin INT, place VARBINARY(700)); "
            f"INSERT INTO k VALUES {values}; "
            f"INSERT INTO peer_keys SELECT b.seq, pin, place FROM seq_0_to_{last} b, k",
            timeout=600,
        )

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            await self._pool.wait_closed()

    async def rewrite(self, _: int) -> None:
        """Shift every pin between the old place and the new one."""
        board, moved, anchor = self._choose()
        async with self._pool.acquire() as link, link.cursor() as cursor:  # type: ignore[union-attr]
            await cursor.execute("SELECT id FROM peer_boards WHERE id = %s FOR UPDATE", board)
            await cursor.execute(
                "SELECT pin, place FROM peer_positions WHERE board = %s AND pin IN (%s, %s)",
                (board, moved, anchor),
            )
            places = dict(await cursor.fetchall())
            old, new = places[moved], places[anchor]
            step, low, high = (1, new, old) if new < old else (-1, old, new)
            await cursor.execute(
                "UPDATE peer_positions SET place = IF(pin = %s, %s, place + %s) "
                "WHERE board = %s AND place BETWEEN %s AND %s",
                (moved, new, step, board, low, high),
            )
            await link.commit()

    async def fractional(self, _: int) -> None:
        """A key between the keys of the new neighbors."""
        board, moved, anchor = self._choose()
        async with self._pool.acquire() as link, link.cursor() as cursor:  # type: ignore[union-attr]
            await cursor.execute("SELECT id FROM peer_boards WHERE id = %s FOR UPDATE", board)
            await cursor.execute(
                "SELECT place FROM peer_keys WHERE board = %s AND place <= "
                "(SELECT place FROM peer_keys WHERE board = %s AND pin = %s) "
                "ORDER BY place DESC LIMIT 2",
                (board, board, anchor),
            )
            found = [place.decode() for [place] in await cursor.fetchall()]
            key = generate_key_between(found[1] if len(found) > 1 else None, found[0])
            await cursor.execute(
                "UPDATE peer_keys SET place = %s WHERE board = %s AND pin = %s",
                (key, board, moved),
            )
            await link.commit()

    def _choose(self) -> tuple[int, int, int]:
        board = self._chooser.randrange(self._boards)
        moved, anchor = self._chooser.sample(range(self._pins), 2)
        return board, moved, anchor

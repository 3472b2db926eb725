"""Finds ids by arbitrary keys: `datasources.protocols.ModStore` over SQL.

The version of a key is the id in a further row of `claims`, which is written when the key is freed
for the first time. The row has the key's hash only, so a freed name is nowhere. A transaction locks
the holder's row first (it inserts one if there is none), then reads the version.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress

from datasources.protocols import Claim
from datasources.sql.dialect import marks, rows_of_marks
from datasources.sql.engine import Part, Place, Row, Session
from datasources.sql.lists import ROWS_A_STATEMENT
from datasources.sql.router import SHARDS_AT_A_TIME, Router
from datasources.together import together

_COLUMNS = "key_hash, claim_key, id"
_VERSIONS = ".versions"
"""Ends the namespace of the rows with versions."""


class _OtherVersion(Exception):
    """The key has another version: the transaction writes nothing."""


class SqlMod:
    """See ModStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def find(self, namespace: str, keys: Sequence[str]) -> dict[str, int]:
        asked = list(dict.fromkeys(keys))
        parts = []
        for shard, some in self._by_shard(asked).items():
            for at in range(0, len(some), ROWS_A_STATEMENT):
                hashes = [_hash(key) for key in some[at : at + ROWS_A_STATEMENT]]
                rest = f"FROM {{db}}.claims WHERE {_condition(len(hashes))}"
                place = self._router.mod_place(shard)
                parts.append(Part(place, _COLUMNS, rest, (namespace.encode(), *hashes)))
        found: dict[str, int] = {}
        for rows in await self._router.read("mod.find", parts):
            # Somebody may construct two keys with the same MD5: the key itself decides.
            found |= {key.decode(): id for _, key, id in rows}
        return {key: found[key] for key in asked if key in found}

    async def claim(self, namespace: str, key: str, id: int) -> int:
        holders = await self.claim_many(namespace, {key: id})
        return holders[key]

    async def claim_many(self, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        holders = await together(
            (
                self._claim(shard, namespace, {key: ids[key] for key in some})
                for shard, some in self._by_shard(ids).items()
            ),
            at_a_time=SHARDS_AT_A_TIME,
        )
        return {key: id for of_shard in holders for key, id in of_shard.items()}

    async def look(self, namespace: str, keys: Sequence[str]) -> dict[str, Claim]:
        asked, spaces = list(dict.fromkeys(keys)), (namespace.encode(), _versions(namespace))
        parts = []
        for shard, some in self._by_shard(asked).items():
            for at in range(0, len(some), ROWS_A_STATEMENT):
                hashes = [_hash(key) for key in some[at : at + ROWS_A_STATEMENT]]
                rest = (
                    "FROM {db}.claims "
                    f"WHERE namespace IN (?, ?) AND key_hash IN ({marks(len(hashes))})"
                )
                place = self._router.mod_place(shard)
                parts.append(Part(place, f"namespace, {_COLUMNS}", rest, (*spaces, *hashes)))
        holders: dict[bytes, int] = {}
        versions: dict[bytes, int] = {}
        for rows in await self._router.read("mod.look", parts):
            for space, hash, _, id in rows:
                (holders if space == spaces[0] else versions)[hash] = id
        return {
            key: Claim(holders.get(hash), versions.get(hash, 0))
            for key in asked
            for hash in (_hash(key),)
        }

    async def claim_at(self, namespace: str, key: str, id: int, version: int) -> int | None:
        async def run(session: Session) -> int:
            [(_, _, holder)] = await self._claim_some(session, namespace, [key], {key: id})
            if holder == id and await self._version(session, namespace, key) != version:
                raise _OtherVersion
            return int(holder)

        try:
            return await self._router.write_at(self._place(key), "mod.claim", run)
        except _OtherVersion:
            return None

    async def release(self, namespace: str, key: str, id: int, version: int | None = None) -> None:
        async def run(session: Session) -> None:
            [(_, _, holder)] = await self._claim_some(session, namespace, [key], {key: id})
            if holder != id:
                return
            now = await self._version(session, namespace, key)
            if version not in (None, now):
                raise _OtherVersion
            unique = ("namespace", "key_hash")
            session.at_commit(
                f"INSERT INTO {{db}}.claims (namespace, {_COLUMNS}) VALUES ({marks(4)}) "
                + self._router.engine.dialect.replace(unique, ("id",)),
                (_versions(namespace), _hash(key), b"", now + 1),
            )
            session.at_commit(
                "DELETE FROM {db}.claims WHERE namespace = ? AND key_hash = ?",
                (namespace.encode(), _hash(key)),
            )

        with suppress(_OtherVersion):
            await self._router.write_at(self._place(key), "mod.release", run)

    async def _version(self, session: Session, namespace: str, key: str) -> int:
        """The version of a key whose holder's row is locked."""
        found = await session.run(
            "mod.version",
            f"SELECT id FROM {{db}}.claims WHERE {_condition(1)}"
            + self._router.engine.dialect.lock,
            (_versions(namespace), _hash(key)),
        )
        return int(found.rows[0][0]) if found.rows else 0

    def _place(self, key: str) -> Place:
        return self._router.mod_place(self._router.topology.mod_shard_of(key))

    async def _claim(self, shard: int, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        # In the order of the primary key, so that two transactions don't wait for each other.
        keys = sorted(ids, key=_hash)

        async def run(session: Session) -> dict[str, int]:
            holders: dict[bytes, int] = {}
            for at in range(0, len(keys), ROWS_A_STATEMENT):
                rows = await self._claim_some(
                    session, namespace, keys[at : at + ROWS_A_STATEMENT], ids
                )
                holders |= {hash: id for hash, _, id in rows}
            # A key whose MD5 belongs to another key counts as taken.
            return {key: holders[_hash(key)] for key in keys}

        return await self._router.write_at(self._router.mod_place(shard), "mod.claim", run)

    async def _claim_some(
        self, session: Session, namespace: str, keys: Sequence[str], ids: Mapping[str, int]
    ) -> list[Row]:
        keep = self._router.engine.dialect.keep(("namespace", "key_hash"))
        space = namespace.encode()
        await session.run(
            "mod.claim",
            f"INSERT INTO {{db}}.claims (namespace, {_COLUMNS}) "
            f"VALUES {rows_of_marks(len(keys), 4)} {keep}",
            [value for key in keys for value in (space, _hash(key), key.encode(), ids[key])],
        )
        found = await session.run(
            "mod.claim",
            f"SELECT {_COLUMNS} FROM {{db}}.claims WHERE {_condition(len(keys))}",
            (space, *map(_hash, keys)),
        )
        return found.rows

    def _by_shard(self, keys: Sequence[str] | Mapping[str, int]) -> dict[int, list[str]]:
        by_shard: dict[int, list[str]] = {}
        for key in keys:
            by_shard.setdefault(self._router.topology.mod_shard_of(key), []).append(key)
        return by_shard


def _condition(keys: int) -> str:
    return f"namespace = ? AND key_hash IN ({marks(keys)})"


def _versions(namespace: str) -> bytes:
    return (namespace + _VERSIONS).encode()


def _hash(key: str) -> bytes:
    return hashlib.md5(key.encode()).digest()

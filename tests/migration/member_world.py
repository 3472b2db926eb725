"""A follower of one table of members in memory, over embedded stores, that can be killed at any
write."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from datasources.protocols import Stores
from datasources.records import User
from datasources.sql.source_tables import Column, Page, Table, Values
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import EMAIL, SUBJECT, USERNAME, KeyKind, subject_key
from gateway.operate.migration.converging import Convergence
from gateway.operate.migration.copying import find_old
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Ledger, Row
from gateway.operate.migration.mapping import read_mapping
from gateway.operate.migration.source_checks import TablePlan
from gateway.operate.migration.verification import Verified, verify
from tests.seams import Killed

ISSUER = "https://id.example.org"
MAPPING = """
name: {name}
source: mysql://nobody@127.0.0.1:3306/old
tables:
  - table: members
    becomes: user
    columns:
      key: id
      username: login
      email: mail
      subject: {{column: google, issuer: '{issuer}'}}
"""
_STORES = {"mod": ("claim", "claim_many", "claim_at", "release"), "objects": ("transact",)}


class Member(NamedTuple):
    """A row without its id. Empty values are NULL, except the name."""

    login: str
    mail: str = ""
    google: str = ""

    def key(self, kind: KeyKind) -> str:
        """The key that the row asks for."""
        subject = subject_key(ISSUER, self.google) if self.google else ""
        return {USERNAME: self.login, EMAIL: self.mail, SUBJECT: subject}[kind]


Members = dict[int, Member]


class MemberSource:
    """The part of a source that a follower reads."""

    def __init__(self) -> None:
        self.members: Members = {}

    async def rows(
        self, table: Table, wanted: object, keys: Sequence[Sequence[str]], *, where: str = ""
    ) -> Page:
        """See `datasources.mysql.source.Source`."""
        return self._page([int(id) for (id,) in keys if int(id) in self.members])

    async def page(
        self,
        table: Table,
        wanted: object,
        *,
        where: str = "",
        after: Sequence[str] | None,
        limit: int,
    ) -> Page:
        """See `datasources.mysql.source.Source`."""
        return self._page(sorted(self.members) if after is None else [])

    def _page(self, ids: Sequence[int]) -> Page:
        values: list[Values] = []
        for id in ids:
            texts = [str(id), *self.members[id]]
            values.append(tuple(text.encode() if text else None for text in texts))
        return Page([(str(id),) for id in ids], values)


class Kills:
    """Ends the follower at the `last` seam: a seam is before and after each write."""

    def __init__(self, last: int) -> None:
        self.last, self.passed = last, 0

    def of_stores(self, stores: Stores) -> Stores:
        shards = stores.shards
        parts = {
            name: self._seamed(getattr(shards, name), calls) for name, calls in _STORES.items()
        }
        rest = {"mappings": shards.mappings, "outbox": shards.outbox}
        gated: Any = SimpleNamespace(**parts, **rest)
        return stores._replace(shards=gated)

    def of_ledger(self, ledger: Ledger) -> Ledger:
        for name in ("intend", "settle"):
            setattr(ledger, name, self._around(getattr(ledger, name)))
        return ledger

    def _seamed(self, store: Any, calls: Sequence[str]) -> Any:
        found = {name: getattr(store, name) for name in dir(store) if name[0] != "_"}
        return SimpleNamespace(**found | {name: self._awaited(found[name]) for name in calls})

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def around(*args: Any, **options: Any) -> Any:
            self._pass()
            found = call(*args, **options)
            self._pass()
            return found

        return around

    def _awaited(self, call: Callable[..., Any]) -> Callable[..., Any]:
        async def around(*args: Any, **options: Any) -> Any:
            self._pass()
            found = await call(*args, **options)
            self._pass()
            return found

        return around

    def _pass(self) -> None:
        self.passed += 1
        if self.passed == self.last:
            raise Killed


class MemberWorld:
    """The migration `name` of members, with its journal in a folder."""

    def __init__(self, stores: Stores, folder: Path, name: str) -> None:
        folder.mkdir()
        file = folder / "migration.yaml"
        file.write_text(MAPPING.format(name=name, issuer=ISSUER))
        self._stores, self._name = stores, name
        self.source, self._mapping = MemberSource(), read_mapping(file)
        columns = {name: Column(name, "varchar", True) for name in ("id", "login", "mail")}
        table = Table("members", columns, ("id",), frozenset({"id"}), 0)
        self._plans = [TablePlan(self._mapping.tables[0], table, ())]
        self._journal = Journal(folder, self._mapping)

    def close(self) -> None:
        self._journal.close()

    def change(self, members: Members) -> None:
        """Let the source have these members, and note the rows that differ."""
        before, self.source.members = self.source.members, members
        ids = [id for id in {**before, **members} if before.get(id) != members.get(id)]
        self._ledger().look_at(Row("members", (str(id),)) for id in ids)

    async def follow(self, last: int = 0) -> int:
        """Follow, up to the `last` seam. Returns the number of seams, 0 after a kill."""
        kills = Kills(last)
        stores, ledger = kills.of_stores(self._stores), kills.of_ledger(self._ledger())
        source: Any = self.source
        convergence = Convergence(stores, source, self._plans, ledger, self._journal.keys)
        looked_at = 0

        def step(rows: int) -> None:
            nonlocal looked_at
            looked_at += rows
            assert looked_at < 100, "rows are looked at again and again"

        try:
            await convergence.work(step)
        except Killed:
            return 0
        return kills.passed

    def as_earlier_version(self) -> None:
        """Let the journal be as an earlier version left it, with names among the references."""
        db = self._journal.spool.db
        db.execute("INSERT OR IGNORE INTO needs SELECT * FROM names")
        db.execute("DROP TABLE names")

    async def verified(self) -> Verified:
        source: Any = self.source
        keys = self._journal.keys
        return await verify(self._stores, source, self._plans, self._ledger(), keys, lambda _: None)

    async def users(self) -> dict[int, User]:
        """The users of the members' old ids."""
        found = await find_old(self._stores, self._name, "user", [str(id) for id in range(10)])
        stored = await access.read(self._stores, User, [*found.values()])
        return {int(old): stored[id] for old, id in found.items() if id in stored}

    def _ledger(self) -> Ledger:
        return Ledger(self._journal, [("members", "user")])

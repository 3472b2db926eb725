"""Steps of a promotion whose servers fail, or are not in the state that the operator expects."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from datasources.errors import ConfigError, StoreConflict, StoreError, StoreUnavailable
from datasources.mysql.replication.admin import Admin, Role
from datasources.mysql.replication.promotion import Promotion
from datasources.topology import ModShards, ShardRange, Topology

pytestmark = pytest.mark.anyio


class Server:
    """Answers a statement with the first answer whose key is in the statement; without one, it is
    dead."""

    def __init__(self, name: str, answers: Mapping[str, Any], role: Role | None = None) -> None:
        self.name, self.answers, self._role = name, answers, role
        self.asked = list[str]()

    async def run(self, sql: str, args: object = (), *, within: float = 1.0) -> list[Any]:
        self.asked.append(sql)
        for part, answer in self.answers.items():
            if part in sql:
                return list(answer)
        raise StoreUnavailable(f"{self.name}: dead at {sql.split()[0]}")

    async def role(self) -> Role:
        assert self._role is not None
        return self._role

    async def slave(self) -> None:
        return None


def topology() -> Topology:
    servers = {name: f"mysql://{name}:1" for name in ("OLD", "SLAVE", "NEW")}
    shards = (ShardRange((0, 1), "OLD", "SLAVE"),)
    return Topology(1, servers, shards, ModShards(1, (ShardRange((0, 0), "OLD", "SLAVE"),)))


def made(new: Server, old: Server, told: list[str], **options: Any) -> Promotion:
    def make() -> Admin:
        return cast(Admin, new)

    return Promotion(
        topology(), cast(Admin, new), cast(Admin, old), make, tell=told.append, **options
    )


def restored(*, owner: int, fences: str, writes: bool = False) -> Server:
    """A server with the shards of `OLD`; its id is 9."""
    databases = ["db00000", "db00001", "mod00000"]
    role = Role(9, not writes, False, 0.0, 1, owner, False, 0.0)
    answers = {
        "information_schema.tables": [(name.encode(),) for name in databases],
        ".fence": [(name.encode(), fences.encode()) for name in databases],
        "CREATE OR REPLACE EVENT": [],
        "SET GLOBAL": [],
    }
    server = Server("NEW", answers, role)

    async def script(statements: Any) -> None:
        for statement in statements:
            await server.run(statement)

    server.script = script  # type: ignore[attr-defined]
    return server


async def test_a_fault_of_the_slave_is_not_told_as_a_fault_of_the_old_master() -> None:
    told = list[str]()
    old = Server("OLD", {"SET GLOBAL read_only": [], "@@gtid_binlog_pos": [("1-1-9",)]})
    with pytest.raises(StoreError, match="NEW: dead"):
        await made(Server("NEW", {}), old, told)._shut_old()
    assert told == ["OLD takes no more writes"]


async def test_an_old_master_that_dies_while_it_is_shut_is_gone_on_without() -> None:
    told = list[str]()
    old = Server("OLD", {"SET GLOBAL read_only": []})
    assert not await made(Server("NEW", {}), old, told)._shut_old()
    assert "OLD does not answer, going on without it" in told[-1]


async def test_a_master_that_was_not_restored_takes_no_lost_shards() -> None:
    """The server has copies of the shards, which a move left behind."""
    new = restored(owner=9, fences="1", writes=True)
    with pytest.raises(StoreConflict, match="NEW has db00000, but as a shard of server 1"):
        await made(new, Server("OLD", {}), [], restored=True).run()


async def test_a_master_that_lacks_the_lost_shards_does_not_take_them() -> None:
    new = restored(owner=9, fences="9", writes=True)
    new.answers = {**new.answers, "information_schema.tables": [(b"db00007",)]}
    with pytest.raises(StoreConflict, match="NEW has no db00000"):
        await made(new, Server("OLD", {}), [], restored=True).run()


async def test_a_promotion_that_was_killed_at_its_end_goes_on() -> None:
    new = restored(owner=9, fences="9", writes=True)
    following = await made(new, Server("OLD", {}), [], restored=True).run()
    assert following.shards[0].master == "NEW"
    assert not any("AUTO_INCREMENT" in sql for sql in new.asked)


async def test_the_slave_of_a_lost_master_goes_before_a_restored_server() -> None:
    new = restored(owner=1, fences="1")
    slave = cast(Admin, Server("SLAVE", {"SELECT 1": [(1,)]}))
    with pytest.raises(ConfigError, match="run `pinway shards promote SLAVE`"):
        await made(new, Server("OLD", {}), [], restored=True, slave=slave).run()


async def test_a_living_slave_is_passed_over_where_the_loss_is_accepted() -> None:
    new = restored(owner=1, fences="1")
    slave = cast(Admin, Server("SLAVE", {"SELECT 1": [(1,)]}))
    options = {"restored": True, "slave": slave, "accept_loss": True}
    await made(new, Server("OLD", {}), [], **options)._check_restored(await new.role())


async def test_a_server_that_lives_is_not_replaced_by_a_restored_one() -> None:
    new = restored(owner=1, fences="1")
    with pytest.raises(ConfigError, match="OLD answers, and has later writes"):
        await made(new, Server("OLD", {"SELECT 1": [(1,)]}), [], restored=True).run()

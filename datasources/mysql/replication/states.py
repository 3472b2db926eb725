"""Asks a server for its state, for `pinway shards show` and `watch`."""

from datasources.errors import StoreError
from datasources.mysql.replication.admin import CONNECT_SECONDS, Admin
from datasources.mysql.replication.promotion import fence_owners, shard_databases
from datasources.replication.observation import Sight
from datasources.replication.server_settings import ASK, VARIABLES, decoded
from datasources.replication.shard_picture import ServerState
from datasources.together import together

_SIZES = (
    "SELECT COALESCE(SUM(file_size), 0) "
    "FROM information_schema.innodb_sys_tablespaces WHERE name REGEXP '^(db|mod)[0-9]{5}/'"
)
"""The bytes of the shards' files. `information_schema.tables` would open each table: minutes for
thousands of shards."""


async def state_of(admin: Admin) -> ServerState:
    try:
        return await _state_of(admin)
    except StoreError as error:
        return ServerState(admin.name, fault=str(error))


async def look(master: Admin, slave: Admin) -> Sight:
    """A pair as an observer sees it now. Takes at most `CONNECT_SECONDS`."""

    async def ask(admin: Admin, sql: str) -> str | None:
        try:
            [[value]] = await admin.run(sql, within=CONNECT_SECONDS)
        except StoreError:
            return None
        return str(value)

    answer, lease = await together(
        (
            ask(master, "SELECT @@server_id"),
            ask(slave, "SELECT CAST(lease_ts AS DOUBLE) FROM pinway.server WHERE id = 1"),
        )
    )
    return Sight(answer is not None, lease)


async def variables_of(admin: Admin) -> dict[str, str]:
    """The server's variables that the checks need. Raises StoreError."""
    rows = await admin.run(ASK, VARIABLES)
    return decoded(rows)


async def _state_of(admin: Admin) -> ServerState:
    role = await admin.role()
    slave = await admin.slave()
    [[megabytes]] = await admin.run(_SIZES)
    [[connections, most]] = await admin.run(
        "SELECT (SELECT variable_value FROM information_schema.global_status "
        "WHERE variable_name = 'THREADS_CONNECTED'), @@max_connections"
    )
    name = "master" if role.is_master else "slave" if slave is not None else "neither"
    return ServerState(
        admin.name,
        role=name,
        epoch=role.epoch,
        shards=await _owned(admin, role.id),
        megabytes=int(megabytes) / 2**20,
        lag=None if slave is None else slave["Seconds_Behind_Master"],
        waits=role.waits,
        connections=int(connections),
        max_connections=most,
    )


async def _owned(admin: Admin, id: int) -> int:
    owners = await fence_owners(admin, await shard_databases(admin))
    return list(owners.values()).count(str(id))

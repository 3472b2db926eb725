"""When a slave's data is copied again."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from datasources.errors import ConfigError, StoreConflict
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.attachment import Attachment
from datasources.replication.accounts import Replica

pytestmark = pytest.mark.anyio
PURGED = (
    "Got fatal error 1236 from master when reading data from binary log: 'Could not find GTID "
    "state requested by slave in any binlog files. Probably the slave state is too old and "
    "required binlog files have been purged.'"
)
RESTORED = (
    "Got fatal error 1236 from master when reading data from binary log: 'Error: connecting slave "
    "requested to start from GTID 1-1-9, which is not in the master's binlog'"
)
TOO_LARGE = (
    "Got fatal error 1236 from master when reading data from binary log: 'log event entry exceeded "
    "max_allowed_packet; Increase max_allowed_packet on master'"
)


class Server:
    """A master and a slave in one object. The slave never catches up, and has an error."""

    number = 1236

    def __init__(self, name: str, error: str) -> None:
        self.name, self.error = name, error
        self.login = SimpleNamespace(host="127.0.0.1", port=1)

    async def run(self, sql: str, args: object = (), *, within: float = 1.0) -> list[Any]:
        return [(1,)] if "MASTER_GTID_WAIT" in sql else [(b"1-1-9",)]

    async def slave(self) -> dict[str, Any]:
        return {"Last_SQL_Error": "", "Last_IO_Errno": self.number, "Last_IO_Error": self.error}


def attachment(error: str) -> Attachment:
    server = cast(Admin, Server("A", error))
    return Attachment(server, server, server, Replica("", ""))


@pytest.mark.parametrize("error", [PURGED, RESTORED])
async def test_a_slave_whose_position_its_master_lacks_is_copied_again(error: str) -> None:
    assert not await attachment(error)._catch_up()


async def test_a_slave_whose_master_has_another_fault_keeps_its_data() -> None:
    with pytest.raises(StoreConflict, match="exceeded max_allowed_packet"):
        await attachment(TOO_LARGE)._catch_up()


async def test_a_slave_with_a_wrong_password_is_told_at_once() -> None:
    server = Server("A", "error connecting to master: Access denied for user 'replica'")
    server.number = 1045
    one = cast(Admin, server)
    attachment = Attachment(one, one, one, Replica("replica", "wrong"))
    with pytest.raises(ConfigError, match="give the right --replica-password"):
        await attachment._catch_up()

"""The row `pinway.server` of a pair of servers: the present master, its epoch, and its lease (when
it could last write).

The row is replicated from the master to its slave. A promotion raises the epoch, so of two servers
that both consider themselves the master, the server with the lower epoch was deposed. The master
renews the lease twice a second by an event, through semi-synchronous replication: a master that
lost its slaves, and may have been deposed since, can't renew the lease.

`waits` is 0 while the master has no slave, by an operator's decision: its writes then wait for no
receipt, and no other server can become its successor.
"""

LEASE_SECONDS = 2.0
"""The age at which a lease is over, on the clock of the server that is read."""

SCHEMA = """\
CREATE DATABASE IF NOT EXISTS pinway CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS pinway.server (
  id TINYINT NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL, owner VARCHAR(64) NOT NULL,
  lease_ts DATETIME(6) NOT NULL, waits TINYINT NOT NULL
) ENGINE=InnoDB;
"""

FIRST_ROW = "INSERT IGNORE INTO pinway.server VALUES (1, 1, @@server_id, UTC_TIMESTAMP(6), 1)"

EXISTS = (
    "SELECT COUNT(*) FROM information_schema.tables "
    "WHERE table_schema = 'pinway' AND table_name = 'server'"
)
READ = "SELECT epoch, owner, waits FROM pinway.server WHERE id = 1"

# This statement follows the reads in the same packet. Data that was read before the lease was
# checked is current if the lease was valid at the check, even if the server was stopped in between.
CHECK = (
    "SELECT epoch, TIMESTAMPDIFF(MICROSECOND, lease_ts, UTC_TIMESTAMP(6)) FROM pinway.server "
    "WHERE id = 1"
)
CHECK_SLAVE = (
    "SELECT TIMESTAMPDIFF(MICROSECOND, lease_ts, UTC_TIMESTAMP(6)), CAST((SELECT variable_value "
    "FROM information_schema.global_status WHERE variable_name = 'UPTIME') AS UNSIGNED) "
    "FROM pinway.server WHERE id = 1"
)

RENEWAL = "UPDATE pinway.server"
_RENEW = (
    f"{RENEWAL} SET lease_ts = UTC_TIMESTAMP(6) "
    "WHERE id = 1 AND owner = @@server_id AND @@read_only = 0"
)
# An event can run at most once a second. While a renewal waits for a slave's receipt, the lock
# keeps further runs from queueing behind it.
EVENT = (
    "CREATE OR REPLACE EVENT pinway.lease ON SCHEDULE EVERY 1 SECOND ON COMPLETION PRESERVE DO "
    "BEGIN IF GET_LOCK('pinway.lease', 0) = 1 THEN "
    f"{_RENEW}; DO SLEEP(0.5); {_RENEW}; DO RELEASE_LOCK('pinway.lease'); END IF; END"
)

CLOSE = ("SET GLOBAL read_only = 1", "SET GLOBAL rpl_semi_sync_master_enabled = 0")


def opens(*, waits: bool) -> tuple[str, ...]:
    """The statements that let a master take writes. The order matters: no write may be acknowledged
    before the server waits for receipts."""
    return f"SET GLOBAL rpl_semi_sync_master_enabled = {int(waits)}", "SET GLOBAL read_only = 0"

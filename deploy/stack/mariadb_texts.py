"""The configuration file of a MariaDB server, its accounts, and the table that names the master.

All servers boot in the same way: read-only, and as slaves that start nothing by themselves. A
killed master may have more writes than its slave, and the slave may have been promoted since. So
`pinway stack up` first asks both servers of a pair, decides, and then opens the master.
"""

CONFIG = """\
[mariadbd]
datadir = {data}
# Its own: at its start a server deletes the temporary tables of all who share the directory.
tmpdir = {dir}/tmp
socket = {socket}
pid-file = {dir}/mariadbd.pid
port = {port}
bind-address = {host}
skip-name-resolve

server-id = {server_id}
# One domain a pair: a promoted slave continues where its master left off.
gtid-domain-id = {domain}
gtid-strict-mode = 1
log-bin = binlog
log-slave-updates = 1
binlog-format = ROW
binlog-expire-logs-seconds = 172800
max-binlog-size = 128M
relay-log = relay
# By global transaction id a slave throws its relay log away when it starts, so it starts only when
# its master answers; until then what it received is kept.
relay-log-recovery = 0
skip-slave-start = 1
sync-relay-log = 1
slave-parallel-threads = 4
# A master that hangs is noticed, and a returning master is found, within seconds.
slave-net-timeout = 10
read-only = 1
event-scheduler = ON

# A write is acknowledged when the slave has received it, and shows then; without a slave it waits.
# The master's side is switched on when a server becomes master: on a slave STOP SLAVE would hang.
rpl-semi-sync-slave-enabled = 1
rpl-semi-sync-master-enabled = 0
rpl-semi-sync-master-wait-point = AFTER_SYNC
rpl-semi-sync-master-wait-no-slave = 1
rpl-semi-sync-master-timeout = 1000000000000

character-set-server = utf8mb4
max-connections = 500
# Thousands of shards have more tables that are read again and again than fit into smaller caches.
table-open-cache = 16000
table-definition-cache = 16000
innodb-buffer-pool-size = {buffer_pool}
innodb-log-file-size = 64M
# What was acknowledged outlives a crash of the machine. On a slave, too: a slave with tables that
# fall behind its own binlog would apply the difference again; strict mode would stop it for good.
innodb-flush-log-at-trx-commit = 1
sync-binlog = 1
"""

ACCOUNTS = """\
FLUSH PRIVILEGES;
CREATE USER '{user}'@'{host}' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON `db%`.* TO '{user}'@'{host}';
GRANT ALL PRIVILEGES ON `mod%`.* TO '{user}'@'{host}';
GRANT REPLICA MONITOR ON *.* TO '{user}'@'{host}';
CREATE USER '{replica}'@'{host}' IDENTIFIED BY '{replica_password}';
GRANT REPLICATION SLAVE ON *.* TO '{replica}'@'{host}';
"""

# Created on each server separately, and not in its binlog: an earlier version's servers lack it.
OPERATOR = """\
SET SESSION sql_log_bin = 0;
CREATE OR REPLACE USER '{operator}'@'{host}' IDENTIFIED BY '{operator_password}';
GRANT ALL PRIVILEGES ON *.* TO '{operator}'@'{host}';
GRANT SELECT ON `pinway`.* TO '{user}'@'{host}';
"""

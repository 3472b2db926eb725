"""The text that names the connections which keep the lock of a cut-over away."""

from datasources.mysql.lock_holders import words
from datasources.sql.grants import Grants

GRANTS = Grants(["GRANT PROCESS ON *.* TO `reader`@`%`"], "reader@%", "10.11.19-MariaDB")
IDLE = {
    **{"Id": 7, "User": "site", "Host": "10.0.0.5:4711", "db": "old"},
    **{"Command": "Sleep", "Time": 42, "State": "", "Info": None},
}
RUNNING = IDLE | {"Id": 8, "db": None, "Command": "Query", "Time": 9, "Info": "SELECT\n  SLEEP(9)"}
REPLICA = IDLE | {"Id": 9, "Command": "Binlog Dump", "State": "Master has sent all binlog"}
APPLIER = IDLE | {"Id": 10, "User": "system user", "Command": "Slave_SQL", "db": None}
TABLES = [{"Database": "old", "Table": "members", "In_use": 1, "Name_locked": 0}]


def test_running_statements_come_before_idle_connections_and_replicas_are_left_out() -> None:
    assert words(TABLES, [IDLE, REPLICA, RUNNING, APPLIER], GRANTS) == (
        "in use: old.members; connections that may keep it: connection 8 of site@10.0.0.5:4711 "
        "(for 9 s: SELECT SLEEP(9)), connection 7 of site@10.0.0.5:4711 (idle for 42 s in old); "
        "end the statement, UNLOCK TABLES there, or KILL the connection; then try again"
    )


def test_idle_connections_of_the_table_s_database_and_the_longest_come_first() -> None:
    others = [IDLE | {"Id": 20 + n, "db": "shop", "Time": n} for n in range(9)]
    text = words(TABLES, [*others, IDLE], GRANTS)
    assert text.index("connection 7 ") < text.index("connection 28 ") < text.index("connection 27 ")
    assert ", and 5 more; " in text
    assert "connection 24 " not in text


def test_connections_of_the_migration_s_user_come_last() -> None:
    own = RUNNING | {"Id": 30, "User": "reader"}
    text = words(TABLES, [own, IDLE], GRANTS, user="reader")
    assert text.index("connection 7 ") < text.index("connection 30 ")


def test_a_user_who_sees_only_its_own_connections_is_told_the_right() -> None:
    grants = Grants(["GRANT SELECT ON *.* TO `reader`@`%`"], "reader@%", "10.11.19-MariaDB")
    assert "GRANT PROCESS ON *.* TO 'reader'@'%'; " in words([], [], grants)

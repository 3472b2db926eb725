"""`pinway stack` on the real servers: one separate stack, used in order and then removed.

Only the last tests stop servers for good; each other test leaves all of them ready.
"""

import json
import signal
import socket
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest
from click.testing import CliRunner
from kazoo.client import KazooClient
from redis import Redis

from datasources.mysql import MySqlShards
from datasources.topology import parse
from deploy.stack import Stack, StackError, State, install, layout, process, wire
from deploy.stack.cli import stack as command
from deploy.stack.mariadb import MariaDB
from deploy.stack.process import Identity

SHARDS, MOD_SHARDS = 64, 16
DATABASE = "db00000"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    servers = Stack(tmp_path_factory.mktemp("own stack"), SHARDS, MOD_SHARDS)
    try:
        servers.up()
        yield servers
    finally:
        servers.down()


def connect(own: Stack, server: str) -> "pymysql.Connection[pymysql.cursors.Cursor]":
    return pymysql.connect(
        host="127.0.0.1",
        port=own.services[server].port,
        user=own.settings["mysql.user"],
        password=own.settings["mysql.password"],
        autocommit=True,
    )


def ask(own: Stack, server: str, *statements: str) -> tuple[tuple[object, ...], ...]:
    """Run the statements on one connection. Returns the rows of the last."""
    with connect(own, server) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return tuple(cursor.fetchall())


def wait_for_slave(own: Stack, master: str, slave: str) -> None:
    ((position,),) = ask(own, master, "SELECT @@gtid_binlog_pos")
    ((outcome,),) = ask(own, slave, f"SELECT MASTER_GTID_WAIT('{position}', 600)")
    assert outcome == 0


def pids(own: Stack) -> dict[str, int | None]:
    return {name: service.pid for name, service in own.services.items()}


def invoke(own: Stack, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, [*words, "--dir", str(own.dir)])
    return result.exit_code, result.output


def test_every_server_is_up_and_answers(own: Stack) -> None:
    rows = own.status()
    assert {row.name for row in rows} == set(layout.services())
    assert {row.name: row.health for row in rows if row.health.state is not State.UP} == {}
    code, output = invoke(own, "status")
    assert code == 0
    assert all(f"{row.name} " in output and f" {row.port} " in output for row in rows)


def test_every_server_listens_on_the_loopback_alone(own: Stack) -> None:
    listening = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            host, port = address.split(":")
            if state == "0A":
                listening.add((int(port, 16), host))
    ports = {port for service in own.services.values() for port in service.ports.values()}
    # 127.0.0.1, and its form in IPv6, as the kernel prints them on a little-endian machine.
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    found = {(port, host) for port, host in listening if port in ports}
    assert {port for port, _ in found} == ports
    assert {host for _, host in found} <= loopback


def test_settings_and_topology_agree_and_secrets_are_private(own: Stack) -> None:
    written = tomllib.loads(own.settings_file.read_text())
    tables = {name: values for name, values in written.items() if isinstance(values, dict)}
    settings = {name: value for name, value in written.items() if name not in tables}
    for table, values in tables.items():
        settings |= {f"{table}.{name}": value for name, value in values.items()}
    assert settings == own.settings
    assert settings["stores.topology_seed"] == str(own.topology_file)
    topology = json.loads(own.topology_file.read_text())
    assert topology["epoch"] == 1
    assert topology["servers"]["MySQL002B"].endswith(f":{own.services['mysql002b'].port}")
    for file in (own.settings_file, own.dir / "secrets.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.dir.stat().st_mode) == 0o700


@pytest.mark.parametrize("pair", ["001", "002"])
def test_a_row_written_to_a_master_reaches_its_slave(own: Stack, pair: str) -> None:
    master, slave = f"mysql{pair}a", f"mysql{pair}b"
    ask(
        own,
        master,
        f"CREATE DATABASE IF NOT EXISTS {DATABASE}",
        f"CREATE TABLE IF NOT EXISTS {DATABASE}.words (word TEXT CHARACTER SET utf8mb4)",
        f"INSERT INTO {DATABASE}.words VALUES ('pin of {pair}')",
    )
    wait_for_slave(own, master, slave)
    assert ask(own, slave, f"SELECT word FROM {DATABASE}.words") == ((f"pin of {pair}",),)


@pytest.mark.anyio
async def test_the_gateway_reads_how_far_slaves_are_behind(own: Stack) -> None:
    topology = parse((own.dir / "topology.json").read_bytes())
    login = own.settings["mysql.user"], own.settings["mysql.password"]
    shards = MySqlShards(topology, user=login[0], password=login[1])
    for pair in ("001", "002"):
        wait_for_slave(own, f"mysql{pair}a", f"mysql{pair}b")
    assert await shards.replication() == {"MySQL001B": 0.0, "MySQL002B": 0.0}
    servers = ("MySQL001A", "MySQL001B", "MySQL002A", "MySQL002B")
    assert await shards.setting_faults() == {server: [] for server in servers}
    assert await shards.connection_limits() == dict.fromkeys(servers, 500)
    await shards.close()


def test_a_slave_refuses_to_be_written(own: Stack) -> None:
    with pytest.raises(pymysql.err.OperationalError, match="read-only"):
        ask(own, "mysql001b", "CREATE DATABASE db00001")


def test_the_account_may_do_nothing_outside_of_its_shards(own: Stack) -> None:
    with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
        ask(own, "mysql001a", "CREATE DATABASE other")
    with pytest.raises(pymysql.err.OperationalError, match="denied"):
        ask(own, "mysql001a", "SELECT * FROM mysql.global_priv")


def test_zookeeper_keeps_what_it_is_told(own: Stack) -> None:
    client = KazooClient(f"127.0.0.1:{own.services['zookeeper'].port}")
    client.start()
    try:
        client.ensure_path("/probe")
        client.set("/probe", b"value")
        assert client.get("/probe")[0] == b"value"
        client.delete("/probe")
    finally:
        client.stop()
        client.close()


def test_the_clusters_are_two(own: Stack) -> None:
    names = {own.services[f"hbase-{side}"].ports["zookeeper"] for side in ("primary", "standby")}
    assert len(names) == 2
    for side in ("primary", "standby"):
        assert wire.hbase_tables(own.services[f"hbase-{side}-thrift"].port) == []


def test_the_servers_of_one_class_path_share_an_archive_of_classes(own: Stack) -> None:
    archive = str(install.class_archive(install.HBASE))
    for name in ("hbase-primary", "hbase-standby-thrift", "zookeeper"):
        assert archive in Path(f"/proc/{own.services[name].pid}/maps").read_text()


def test_a_second_up_starts_nothing(own: Stack) -> None:
    before = pids(own)
    told: list[str] = []
    own.up(told.append)
    assert pids(own) == before
    assert len(told) == len(before)
    assert all("already runs" in line for line in told)


def test_up_starts_again_only_what_was_killed(own: Stack) -> None:
    before = pids(own)
    killed = {"redis", "mysql001a", "mysql002b"}
    store = Redis(port=own.services["redis"].port)
    store.set("kept", "yes")
    for name in killed:
        own.services[name].kill()
    assert {row.name for row in own.status() if row.health.state is State.DOWN} == killed
    assert invoke(own, "status")[0] == 3
    status, told = invoke(own, "up")
    assert status == 0, told
    after = pids(own)
    assert {name for name in after if after[name] != before[name]} == killed
    assert store.get("kept") == b"yes"
    store.close()


def test_replication_goes_on_after_master_and_slave_were_killed(own: Stack) -> None:
    own.services["mysql001a"].kill()
    own.services["mysql001b"].kill()
    own.services["mysql001b"].start()
    own.services["mysql001a"].start()
    own.services["mysql001a"].wait_ready()
    own.services["mysql001b"].wait_ready()
    ask(own, "mysql001a", f"INSERT INTO {DATABASE}.words VALUES ('after the crash')")
    wait_for_slave(own, "mysql001a", "mysql001b")
    found = ask(own, "mysql001b", f"SELECT COUNT(*) FROM {DATABASE}.words")
    assert found == ask(own, "mysql001a", f"SELECT COUNT(*) FROM {DATABASE}.words") == ((2,),)


def test_a_slave_that_was_killed_right_after_it_applied_something_goes_on(own: Stack) -> None:
    slave = own.services["mysql002b"]
    assert isinstance(slave, MariaDB)
    # From now on only commits write to its disk.
    slave.query("SET GLOBAL innodb_flush_log_at_timeout = 2700")
    for word in ("one", "two"):
        ask(own, "mysql002a", f"INSERT INTO {DATABASE}.words VALUES ('{word}')")
    wait_for_slave(own, "mysql002a", "mysql002b")
    slave.kill()
    slave.start()
    slave.wait_ready()
    ask(own, "mysql002a", f"INSERT INTO {DATABASE}.words VALUES ('three')")
    wait_for_slave(own, "mysql002a", "mysql002b")
    found = ask(own, "mysql002b", f"SELECT COUNT(*) FROM {DATABASE}.words")
    assert found == ask(own, "mysql002a", f"SELECT COUNT(*) FROM {DATABASE}.words") == ((4,),)


def test_a_killed_cluster_comes_back_behind_its_thrift_server(own: Stack) -> None:
    cluster, thrift = own.services["hbase-standby"], own.services["hbase-standby-thrift"]
    pid = thrift.pid
    cluster.kill()
    cluster.start()
    cluster.wait_ready()
    thrift.wait_ready()
    assert thrift.pid == pid


def test_logs_show_the_end_of_one_log_or_of_all(own: Stack) -> None:
    code, output = invoke(own, "logs", "mysql001a")
    assert code == 0
    assert "ready for connections" in output
    code, output = invoke(own, "logs", "-n", "1")
    assert code == 0
    assert {line.split()[0] for line in output.splitlines()} >= {"redis", "mysql001a"}


def test_an_unknown_server_gets_one_line_that_names_those_there_are(own: Stack) -> None:
    code, output = invoke(own, "logs", "postgres")
    assert code == 1
    assert output.startswith("Error: no server 'postgres'; there are ")
    assert len(output.splitlines()) == 1


def test_a_stack_of_another_size_is_refused(own: Stack) -> None:
    with pytest.raises(StackError, match="was made for 64 shards and 16 mod shards, not 128"):
        Stack(own.dir, 128, MOD_SHARDS)


def test_down_leaves_no_process_though_one_was_paused_and_one_dead(own: Stack) -> None:
    known = [process.load(service.pid_file) for service in own.services.values()]
    identities = [identity for identity in known if isinstance(identity, Identity)]
    assert len(identities) == len(layout.services())
    own.services["redis"].kill(signal.SIGSTOP)
    own.services["memcached"].kill()
    code, _ = invoke(own, "down")
    assert code == 0
    assert [process.members(identity) for identity in identities] == [[]] * len(identities)
    assert _mentioning(own.dir) == []
    assert invoke(own, "status")[0] == 3
    assert invoke(own, "down")[0] == 0


def test_a_port_that_was_taken_meanwhile_is_replaced_and_slaves_follow(own: Stack) -> None:
    before = {name: service.port for name, service in own.services.items()}
    taken = ("mysql001a", "redis")
    with (
        socket.create_server(("127.0.0.1", before["mysql001a"])),
        socket.create_server(("127.0.0.1", before["redis"])),
    ):
        own.up(set_up_only=True)
        after = {name: service.port for name, service in own.services.items()}
        assert {name for name in after if after[name] != before[name]} == set(taken)
        assert json.loads(own.topology_file.read_text())["epoch"] == 2
        assert own.settings["stores.queue"] == f"redis://127.0.0.1:{after['redis']}/1"
        for name in ("mysql001a", "mysql001b", "redis"):
            own.services[name].start()
        for name in ("mysql001a", "mysql001b", "redis"):
            own.services[name].wait_ready()
        ask(own, "mysql001a", f"INSERT INTO {DATABASE}.words VALUES ('after the move')")
        wait_for_slave(own, "mysql001a", "mysql001b")
        assert ask(own, "mysql001b", f"SELECT COUNT(*) FROM {DATABASE}.words") == ((3,),)
        with Redis(port=after["redis"]) as store:
            assert store.get("kept") == b"yes"


def test_a_server_that_cannot_start_is_told_with_its_log_and_what_to_do(own: Stack) -> None:
    with socket.create_server(("127.0.0.1", own.services["memcached"].port)):
        own.services["memcached"].start()
        with pytest.raises(StackError, match=r"^memcached ended while it started; see .*run `pinw"):
            own.services["memcached"].wait_ready()
    assert "Address already in use" in own.services["memcached"].log_tail()


def _mentioning(directory: Path) -> list[str]:
    """The command lines of all processes that name the directory."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(directory) in line:
            found.append(line)
    return found

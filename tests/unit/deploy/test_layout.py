"""`deploy/stack/layout.py`, and what servers are told: configuration, settings, topology."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from deploy.stack import layout
from deploy.stack.mariadb import topology_name
from deploy.stack.secrets import Secrets
from deploy.stack.service import Service
from gateway.settings.sources import of_file

SECRETS = Secrets("mysql-secret", "replica-secret", "auth-secret")
PORTS = {name: 20_000 + n for n, name in enumerate(layout.port_names())}


@pytest.fixture
def services(tmp_path: Path) -> dict[str, Service]:
    return layout.build(tmp_path, PORTS, SECRETS)


def test_the_stack_has_every_server_with_its_ports(services: dict[str, Service]) -> None:
    assert set(services) == set(layout.services())
    found = {
        f"{name}/{use}": port for name, one in services.items() for use, port in one.ports.items()
    }
    assert found == PORTS


def test_every_server_writes_below_a_directory_of_its_own(
    services: dict[str, Service], tmp_path: Path
) -> None:
    assert {service.dir for service in services.values()} == {tmp_path / n for n in services}


def test_no_configuration_file_holds_a_password(services: dict[str, Service]) -> None:
    for service in services.values():
        for text in service.config().values():
            assert "secret" not in text


def test_servers_listen_on_the_loopback_alone(services: dict[str, Service]) -> None:
    assert "bind-address = 127.0.0.1\n" in services["mysql001a"].config()[Path("my.cnf")]
    assert services["redis"].config()[Path("redis.conf")].startswith("bind 127.0.0.1\n")
    zoo = services["zookeeper"].config()[Path("conf/zoo.cfg")]
    assert "clientPortAddress=127.0.0.1\n" in zoo


def test_all_servers_boot_read_only_and_slaves_share_their_masters_domain(
    services: dict[str, Service],
) -> None:
    seen = {}
    for name in ("mysql001a", "mysql001b", "mysql002a", "mysql002b"):
        lines = services[name].config()[Path("my.cnf")].splitlines()
        options = dict(line.split(" = ") for line in lines if " = " in line)
        seen[name] = options["server-id"], options["gtid-domain-id"], options["read-only"]
    assert seen == {
        "mysql001a": ("1", "1", "1"),
        "mysql001b": ("2", "1", "1"),
        "mysql002a": ("3", "2", "1"),
        "mysql002b": ("4", "2", "1"),
    }


def test_a_thrift_server_reads_its_clusters_site_and_its_own_limits(tmp_path: Path) -> None:
    services = layout.build(tmp_path / "a & <b>", PORTS, SECRETS)
    text = services["hbase-standby"].config()[Path("conf/hbase-site.xml")]
    thrift = services["hbase-standby-thrift"].config()[Path("conf/hbase-site.xml")]
    kept = text.removesuffix("</configuration>\n")
    assert thrift.startswith(kept)
    limits = ElementTree.fromstring(thrift)
    assert limits.findtext("property[name='hbase.rpc.timeout']/value") == "3000"
    site = {
        prop.findtext("name"): prop.findtext("value")
        for prop in ElementTree.fromstring(text).iter("property")
    }
    assert site["hbase.rootdir"] == f"file://{tmp_path}/a & <b>/hbase-standby/data"
    assert site["hbase.master.port"] == str(PORTS["hbase-standby/main"])
    assert site["hbase.regionserver.port"] == str(PORTS["hbase-standby/region"])
    zookeeper = site["hbase.zookeeper.property.clientPort"]
    assert zookeeper == str(PORTS["hbase-standby/zookeeper"])
    assert "@" not in text


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        (1, [[0, 0]]),
        (2, [[0, 0], [1, 1]]),
        (3, [[0, 1], [2, 2]]),
        (64, [[0, 31], [32, 63]]),
        (4096, [[0, 2047], [2048, 4095]]),
    ],
)
def test_shards_are_split_over_the_masters(shards: int, expected: list[list[int]]) -> None:
    document = layout.topology(PORTS, shards, 16, epoch=1)
    assert [entry["range"] for entry in document["shards"]] == expected
    assert document["mod"]["count"] == 16
    assert [entry["range"] for entry in document["mod"]["ranges"]] == [[0, 7], [8, 15]]


def test_the_topology_names_each_server_with_its_port() -> None:
    document = layout.topology(PORTS, 64, 16, epoch=7)
    assert document["epoch"] == 7
    assert document["servers"] == {
        topology_name(name): f"mysql://127.0.0.1:{PORTS[f'{name}/main']}"
        for name in ("mysql001a", "mysql001b", "mysql002a", "mysql002b")
    }
    assert [(e["master"], e["slave"]) for e in document["shards"]] == [
        ("MySQL001A", "MySQL001B"),
        ("MySQL002A", "MySQL002B"),
    ]


def test_settings_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    settings = layout.settings(Path('/odd "dir"\\ü'), PORTS, SECRETS)
    path = tmp_path / "pinway.toml"
    path.write_text(layout.to_toml(settings))
    assert {name: given.value for name, given in of_file(path).items()} == settings


def test_settings_point_to_the_thrift_servers_and_not_to_the_clusters() -> None:
    settings = layout.settings(Path("/dir"), PORTS, SECRETS)
    primary = f"hbase://127.0.0.1:{PORTS['hbase-primary-thrift/main']}"
    standby = f"hbase://127.0.0.1:{PORTS['hbase-standby-thrift/main']}"
    assert settings["stores.pools_primary"] == settings["stores.feeds_primary"] == primary
    assert settings["stores.pools_standby"] == settings["stores.feeds_standby"] == standby

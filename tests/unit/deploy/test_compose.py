"""`deploy/compose.yaml` and the settings for it mirror `pinway stack`."""

import json
import tomllib
from pathlib import Path
from typing import Any

import compose_spec
import pytest
import yaml

import deploy
from datasources.topology import parse
from deploy.stack import layout
from deploy.stack.secrets import Secrets
from gateway.settings import read_settings

DEPLOY = Path(deploy.__file__).parent
GATEWAY = {"gateway-init", "gateway"}
"""The services that run Pinway itself, in a profile of their own."""
OBSERVERS = {"prometheus", "grafana"}
"""The services that watch a gateway, in another profile."""


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return document


@pytest.fixture(scope="module")
def published(compose: dict[str, Any]) -> dict[str, int]:
    """`service/main` → the port on the host."""
    ports = {}
    for name, service in compose["services"].items():
        for mapping in service.get("ports", []):
            host, port, _ = mapping.split(":")
            assert host == "127.0.0.1"
            # A cluster publishes the port of the Thrift server that shares its network.
            owner = f"{name}-thrift" if name.startswith("hbase") else name
            ports[f"{owner}/main"] = int(port)
    return ports


def test_it_has_the_stacks_services_and_the_gateway(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == set(layout.services()) | GATEWAY | OBSERVERS
    profiles = {name: services[name].get("profiles") for name in services}
    assert {name for name in profiles if profiles[name] == ["gateway"]} == GATEWAY
    assert {name for name in profiles if profiles[name] == ["observe"]} == OBSERVERS
    assert {name for name in profiles if profiles[name] is None} == set(layout.services())


def test_the_gateway_runs_without_rights_on_a_file_system_that_it_cannot_write(
    compose: dict[str, Any],
) -> None:
    for name in GATEWAY:
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()


def test_it_keeps_to_the_specification() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    specified(text)
    for right, wrong in (
        ("cap_drop:", "cap_dropp:"),
        ("read_only: true", "read_only: perhaps"),
        ("condition: service_healthy", "condition: healthy"),
    ):
        assert right in text
        with pytest.raises(ValueError, match=r"healthy|perhaps|cap_dropp"):
            specified(text.replace(right, wrong, 1))


def specified(text: str) -> None:
    """Read a composition. Raises ValueError for what the specification doesn't have."""
    compose_spec.PyOptions(apply_merge=True).from_yaml(text).validate()


def test_every_volume_is_declared_and_used(compose: dict[str, Any]) -> None:
    used = set()
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists()
            else:
                used.add(source)
    assert used == set(compose["volumes"])


def test_what_a_service_waits_for_exists_and_has_a_health_check(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, condition in service.get("depends_on", {}).items():
            if name == "gateway-init":
                assert condition["condition"] == "service_completed_successfully"
                continue
            assert condition["condition"] == "service_healthy"
            assert "healthcheck" in compose["services"][name]


def test_a_slaves_health_check_ends_with_the_test_that_reads_its_options(
    compose: dict[str, Any],
) -> None:
    """The image's `healthcheck.sh` sets options from `--replication_io` and `--replication_sql`,
    and `--replication` tests them. An option without a value in the last place is an error."""
    for name in ("mysql001b", "mysql002b"):
        command = compose["services"][name]["healthcheck"]["test"]
        assert command[:3] == ["CMD", "healthcheck.sh", "--connect"]
        assert command[-3:] == ["--replication_io", "--replication_sql", "--replication"]


def test_whoever_shares_a_network_is_restarted_with_its_owner(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        if service.get("network_mode", "host") != "host":
            owner = service["network_mode"].removeprefix("service:")
            assert service["depends_on"][owner]["restart"] is True


def test_mariadb_servers_have_the_stacks_ids_and_domains(compose: dict[str, Any]) -> None:
    ports = dict.fromkeys(layout.port_names(), 1)
    for name, service in layout.build(Path("/"), ports, Secrets("", "", "")).items():
        if not name.startswith("mysql"):
            continue
        lines = service.config()[Path("my.cnf")].splitlines()
        own = dict(line.split(" = ") for line in lines if " = " in line)
        command = [option.removeprefix("--") for option in compose["services"][name]["command"]]
        theirs = dict(option.split("=") for option in command if "=" in option)
        for key in (
            "server-id",
            "gtid-domain-id",
            "gtid-strict-mode",
            "log-bin",
            "sync-binlog",
            "max-connections",
        ):
            assert theirs[key] == own[key], (name, key)
        assert (theirs.get("read-only") == own["read-only"]) == name.endswith("b")


def test_hbase_runs_what_the_stack_runs(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.stack.install.tool", str)  # no Java is needed to compare
    ports = dict.fromkeys(layout.port_names(), 1)
    services = layout.build(Path("/"), ports, Secrets("", "", ""))
    for name, main in (("hbase-primary", 1), ("hbase-primary-thrift", 3)):
        command = compose["services"][name]["command"]
        assert {command[main - 1], command[main]} <= set(services[name].command())
    copied = (DEPLOY / "hbase" / "Dockerfile").read_text()
    for file in ("pom.xml", "hbase-site.xml", "thrift.xml", "log4j.properties", "jvm.options"):
        assert (DEPLOY / "hbase" / file).exists()
        assert file in copied


def test_opensearch_has_the_stacks_version_and_settings(compose: dict[str, Any]) -> None:
    service = compose["services"]["opensearch"]
    pom = (DEPLOY / "opensearch" / "pom.xml").read_text()
    version = service["image"].rpartition(":")[2]
    assert f"<opensearch.version>{version}<" in pom
    own = yaml.safe_load((DEPLOY / "opensearch" / "opensearch.yml").read_text().replace("@", ""))
    for name, value in own.items():
        if name.split(".")[0] not in ("http", "network", "path", "transport"):
            assert str(value).lower() == service["environment"][name].lower(), name


def test_the_settings_are_the_stacks_with_the_published_ports(published: dict[str, int]) -> None:
    expected = layout.settings(Path(), published, Secrets("", "", ""))
    # Containers have no operator's account: `pinway shards` is for servers that replicate in full.
    for name in ("auth.secret", "mysql.password", "mysql.operator_user", "mysql.operator_password"):
        del expected[name]
    document = tomllib.loads((DEPLOY / "compose" / "pinway.toml").read_text())
    found = {"data_dir": document.pop("data_dir")}
    for table, values in document.items():
        found |= {f"{table}.{name}": value for name, value in values.items()}
    assert found.pop("data_dir") == ".pinway/compose"
    assert found.pop("stores.topology_seed") == "deploy/compose/topology.json"
    del expected["data_dir"], expected["stores.topology_seed"]
    assert found == expected


def test_the_gateway_reads_the_settings_and_the_topology(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINWAY_MYSQL__PASSWORD", "word")
    monkeypatch.setenv("PINWAY_AUTH__SECRET", "s" * 32)
    settings = read_settings(DEPLOY / "compose" / "pinway.toml")
    assert (settings.mysql.password, settings.secret) == ("word", "s" * 32)
    topology = parse((DEPLOY.parent / settings.stores.topology_seed).read_bytes())
    assert list(topology.open_shards) == list(range(64))


def test_the_topology_is_the_stacks_with_the_published_ports(published: dict[str, int]) -> None:
    found = json.loads((DEPLOY / "compose" / "topology.json").read_text())
    assert found == layout.topology(published, 64, 16, epoch=1)

"""`deploy/kubernetes` is valid for the API, safe by default, and fits the settings."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

import deploy
from datasources.protocols import PRIORITIES
from datasources.topology import parse
from gateway.settings import EMBEDDED, read_settings

FOLDER = Path(deploy.__file__).parent / "kubernetes"
VERSIONS = ("1.30", "1.34", "1.37")  # a pod's `preStop.sleep` needs 1.30


def kustomization() -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / "kustomization.yaml").read_text()))


def resources() -> list[dict[str, Any]]:
    return [
        document
        for name in kustomization()["resources"]
        for document in yaml.safe_load_all((FOLDER / name).read_text())
    ]


def pods() -> dict[str, dict[str, Any]]:
    """The pods' specifications, by the name of what makes them."""
    return {
        found["metadata"]["name"]: found["spec"]["template"]["spec"]
        for found in resources()
        if found["kind"] in {"Deployment", "Job"}
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_every_resource_is_valid(version: str) -> None:
    assert len(resources()) == 11
    for found in resources():
        kubernetes_validate.validate(found, version, strict=True)


def test_a_wrong_resource_is_found() -> None:
    (found, *_) = resources()
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**found, "spec": {"templat": {}}}, VERSIONS[0], strict=True)


def test_every_file_that_is_named_exists_and_every_file_is_named() -> None:
    named = {*kustomization()["resources"], "kustomization.yaml"}
    for generator in kustomization()["configMapGenerator"]:
        named |= set(generator["files"])
    assert named == {path.name for path in FOLDER.iterdir()}


def test_no_pod_has_rights_that_it_does_not_need() -> None:
    for spec in pods().values():
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]


def test_no_service_sets_a_setting_by_its_name() -> None:
    assert [spec["enableServiceLinks"] for spec in pods().values()] == [False] * 4


def test_services_budgets_and_scalers_select_deployments_that_exist() -> None:
    deployments = {
        found["metadata"]["name"]: found["spec"]["template"]["metadata"]["labels"]
        for found in resources()
        if found["kind"] == "Deployment"
    }
    budgets, scalers = set(), set()
    for found in resources():
        spec = found["spec"]
        if found["kind"] == "Service":
            assert spec["selector"] == deployments["pinway-gateway"]
        elif found["kind"] == "PodDisruptionBudget":
            assert spec["selector"]["matchLabels"] in deployments.values()
            budgets.add(found["metadata"]["name"])
        elif found["kind"] == "HorizontalPodAutoscaler":
            scalers.add(spec["scaleTargetRef"]["name"])
    assert budgets == scalers == set(deployments)


def test_the_gateway_reads_the_settings_and_the_topology(monkeypatch: pytest.MonkeyPatch) -> None:
    (container,) = pods()["pinway-gateway"]["containers"]
    for variable in container["env"]:
        monkeypatch.setenv(variable["name"], variable.get("value", "s" * 32))
    settings = read_settings(FOLDER / "pinway.toml")
    assert settings.jobs.run is False
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert (settings.http.port, settings.http.admin_port) == (ports["http"], ports["admin"])
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(Path(settings.stores.topology_seed).parent) in mounts
    assert container["args"][-1] == f"{Path(settings.stores.topology_seed).parent}/pinway.toml"
    assert parse((FOLDER / "topology.json").read_bytes()).epoch == 1
    assert EMBEDDED not in settings.stores.model_dump().values()


def test_the_workers_take_every_queue_and_scale_on_its_age() -> None:
    taken: dict[str, set[str]] = {}
    for name, spec in pods().items():
        (container,) = spec["containers"]
        if container["args"][0] == "worker":
            assert container["args"][:3] == ["worker", "--config", "/etc/pinway/pinway.toml"]
            taken[name] = set(container["args"][-1].split(","))
    assert sorted(queue for queues in taken.values() for queue in queues) == sorted(PRIORITIES)
    for found in resources():
        name = found["metadata"]["name"]
        if found["kind"] == "HorizontalPodAutoscaler" and name in taken:
            metrics = [metric["external"]["metric"] for metric in found["spec"]["metrics"]]
            assert {m["name"] for m in metrics} == {"pinway_queue_oldest_age_seconds"}
            queues = {m["selector"]["matchLabels"]["priority"] for m in metrics}
            assert queues == taken[name]

"""Dashboards and alerts: a running gateway has each metric that they name, Prometheus' own checker
accepts each rule, and an alert reports each drill."""

import asyncio
import json
import math
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

import deploy
from bench.drills.faults import DRILLS
from gateway.app import create_site
from gateway.observe.exposition import of_workers
from gateway.observe.metrics import ConnectionCollector
from gateway.observe.process import ProcessHealth
from gateway.observe.state import Watch
from gateway.server.connections import Connections
from gateway.settings import Settings
from gateway.site.runtime import running
from tests.http.test_admin import SIGN_UP, client
from tests.telemetry.promtool import promtool

DEPLOY = Path(deploy.__file__).parent
RULES = DEPLOY / "prometheus" / "rules.yaml"
DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
METRIC = re.compile(r"\b(?:pinway|process|python)_[a-z0-9_]+\b")
LABELS = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
HELP = re.compile(r"(?:[A-Z]|1 ).{14,}\.", re.DOTALL)
OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus adds, and the label of histograms."""


async def exposed() -> str:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        async with running(settings, jobs=False, create=lambda progress: None) as runtime:
            health = ProcessHealth()
            counting = ConnectionCollector(Connections(1, 1, lambda peer: False)), health
            site = create_site(settings, runtime, counting=counting)
            async with client(site.public) as c:
                await c.post("/graphql", json={"query": SIGN_UP})
                await c.post("/graphql", json={"query": "{ homeFeed(first: 1) { visitId } } "})
            of_all = await of_workers({1: await site.metrics(), 2: None})
            return (of_all + await Watch(runtime.stores).metrics()).decode()


@cache
def families() -> list[Metric]:
    return list(text_string_to_metric_families(asyncio.run(exposed())))


@cache
def metrics() -> dict[str, set[str]]:
    """The metrics of a running gateway by name, with the labels of their samples."""
    found: dict[str, set[str]] = {}
    for family in families():
        names = {family.name, *(sample.name for sample in family.samples)}
        if family.type == "counter":
            names.add(f"{family.name}_total")
        if family.type == "histogram":
            names |= {f"{family.name}_{end}" for end in ("bucket", "count", "sum")}
        labels = {label for sample in family.samples for label in sample.labels}
        for name in names:
            found[name] = labels
    return found


def expressions(dashboard: Path) -> list[str]:
    panels: list[dict[str, Any]] = json.loads(dashboard.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def unknown(expression: str) -> set[str]:
    """The metrics of the expression that no gateway has, and labels that its metrics lack."""
    named = set(METRIC.findall(expression))
    wrong = named - metrics().keys()
    known = OF_PROMETHEUS | set().union(*(metrics().get(name, set()) for name in named))
    if all(metrics().get(name) for name in named):  # their samples tell the labels
        wrong |= set(LABELS.findall(expression)) - known
    return wrong


def test_each_metric_has_a_help_text_of_its_own() -> None:
    """A sentence that ends with a period, and that no other metric has. The metrics that
    prometheus_client makes have its texts."""
    ours = [family for family in families() if family.name.startswith("pinway_")]
    texts = [family.documentation for family in ours]
    assert len(ours) > 40
    wrong = [f"{f.name}: {f.documentation}" for f in ours if not HELP.fullmatch(f.documentation)]
    assert (wrong, {text for text in texts if texts.count(text) > 1}) == ([], set())


def test_metrics_have_base_units_and_no_infinite_values() -> None:
    """Seconds and bytes, as Prometheus' naming rules have it. Only the last bucket of a histogram
    has an infinite bound."""
    other_units = re.compile(
        r"_(?:ms|millis|milliseconds|us|minutes|hours|kb|kib|mb|mib|percent)\b"
    )
    assert [family.name for family in families() if other_units.search(family.name)] == []
    assert {
        sample.name
        for family in families()
        for sample in family.samples
        if not math.isfinite(sample.value)
    } == set()


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_names_metrics_that_exist(dashboard: Path) -> None:
    assert expressions(dashboard)
    assert {e: unknown(e) for e in expressions(dashboard) if unknown(e)} == {}


def test_alerts_name_metrics_that_exist() -> None:
    assert {r["alert"]: unknown(r["expr"]) for r in rules() if unknown(r["expr"])} == {}


def test_alerts_say_what_is_wrong_and_how_urgent_it_is() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket"), rule
        assert rule["annotations"]["summary"].endswith((".", "`.")), rule


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "rules.yaml"),
        ("check", "config", "prometheus.yaml"),
        ("test", "rules", "rules_test.yaml"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_the_checker_takes_the_rules(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [promtool(), *arguments], cwd=RULES.parent, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_drill_is_told_by_an_alert() -> None:
    tests = yaml.safe_load((RULES.parent / "rules_test.yaml").read_text())["tests"]
    told = {
        test["name"].partition(":")[0]
        for test in tests
        if any(alert["exp_alerts"] for alert in test.get("alert_rule_test", ()))
    }
    assert {drill.name for drill in DRILLS} <= told


@pytest.mark.parametrize("name", ["datasources/prometheus", "dashboards/pinway"])
def test_grafana_finds_prometheus_and_the_dashboards(name: str) -> None:
    found = yaml.safe_load((DEPLOY / "grafana" / "provisioning" / f"{name}.yaml").read_text())
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    if name.startswith("datasources"):
        [source] = found["datasources"]
        listen = next(o for o in compose["prometheus"]["command"] if "listen-address" in o)
        assert source["url"] == f"http://{listen.partition('=')[2]}"
        panels = [p for d in DASHBOARDS for p in json.loads(d.read_text())["panels"]]
        assert {p["datasource"]["uid"] for p in panels if "datasource" in p} == {source["uid"]}
    else:
        path = found["providers"][0]["options"]["path"]
        assert any(mount.split(":")[1] == path for mount in compose["grafana"]["volumes"])

"""Operators' commands: their text for people, their JSON, and their exit status."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner, Result

from feed_engine.times import DAY
from gateway.cli import main
from gateway.operate import doctor, plan
from gateway.operate.schema_changes import changes
from gateway.settings import Http, Settings, StoreUrls, read_settings
from gateway.settings.model import NAMES
from gateway.site.graph import graph_status
from tests.pinway_process import free_port

ROOT = Path(__file__).parents[3]


def pinway(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def answered(*arguments: str) -> Any:
    return json.loads(pinway(*arguments).stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("operated") / "data"
    assert pinway("init", "--data-dir", str(data)).exit_code == 0
    return data


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from commands(below, *path, name)
    else:
        yield " ".join(path), command


WITHOUT = {"run", "serve", "worker", "init", "export", "completion"}
WITHOUT |= {"stack up", "stack down", "stack logs", "shards watch"}
WITHOUT |= {"cache servers", "cache rollback"}
WITHOUT |= {
    f"shards {change}" for change in ("add", "remove", "open", "promote", "attach", "detach")
}
WITHOUT |= {f"shards {change}" for change in ("resume", "backup", "restore", "replay")}
"""Commands whose output is a log, a file's content, a script, or the steps of a change."""


def test_every_command_that_prints_can_print_json() -> None:
    lacking = {
        name
        for name, command in commands(main)
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert lacking == WITHOUT


def test_doctor_finds_all_well_on_stores_that_were_just_made(data: Path) -> None:
    done = pinway("doctor", "--data-dir", str(data), "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["faults"]) == (0, 0)
    checks = {finding["check"] for finding in told["findings"]}
    assert checks >= {
        "python",
        "disk",
        "clock",
        "outbox",
        "queue urgent",
        "shards local",
        "topology",
        "comments by author",
    }


def test_doctor_says_what_to_do_about_a_lost_shard(data: Path, tmp_path: Path) -> None:
    lost = Path(shutil.copytree(data, tmp_path / "data"))
    (lost / "shards/db00002.sqlite").unlink()
    done = pinway("doctor", "--data-dir", str(lost))
    assert done.exit_code == 3
    assert "pinway init --accept-loss shards" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 fault, ")


def test_doctor_tells_of_settings_that_do_not_fit_together() -> None:
    settings = Settings(
        stores=StoreUrls(topology="zookeeper://h:1/t"), http=Http(workers=2, max_connections=10**9)
    )
    found = {(finding.check, finding.state) for finding in doctor.of_host(settings)}
    assert ("settings", doctor.FAULT) in found  # two workers, embedded stores
    assert ("settings", doctor.WARNING) in found  # not in production
    assert any(f.check == "file descriptors" and f.advice for f in doctor.of_host(settings))
    assert all(f.advice for f in doctor.of_host(settings) if f.state != doctor.OK)


def test_config_show_names_the_source_of_each_value_and_masks_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "pinway.toml"
    config.write_text(
        'production = true\nauth.secret = "' + "s" * 40 + '"\n[http]\nport = 9000\n'
        '[stores]\nqueue = "redis://me:hidden@h:6379/0"\n'
    )
    monkeypatch.setenv("PINWAY_HTTP__PORT", "9001")
    monkeypatch.setenv("PINWAY_MYSQL__PASSWORD", "hidden")
    done = pinway("config", "show", "--config", str(config), "--data-dir", "there", "--json")
    shown = {s["name"]: (s["value"], s["source"]) for s in json.loads(done.stdout)}
    assert set(shown) == set(NAMES)
    assert shown["http.port"] == (9001, "the environment, PINWAY_HTTP__PORT")
    assert shown["data_dir"] == ("there", "--data-dir")
    assert shown["stores.queue"] == ("redis://me:***@h:6379/0", f"{config}, line 6")
    assert shown["http.introspection"] == (False, "production = true")
    assert shown["http.workers"] == (1, "default")
    assert "hidden" not in done.stdout
    assert "sss" not in done.stdout
    assert "workers" not in pinway("config", "show", "--config", str(config), "--changed").stdout


def test_config_show_fits_a_terminal_and_says_when_nothing_was_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("PINWAY_")]:
        monkeypatch.delenv(name)
    head = pinway("config", "show").stdout.splitlines()[0]
    assert head.split() == ["NAME", "SOURCE", "VALUE"]
    assert len(head) < 80
    assert pinway("config", "show", "--changed").stdout == "every setting is a default\n"


def test_schema_check_tells_of_breaking_changes(tmp_path: Path) -> None:
    now = pinway("schema").stdout
    old = tmp_path / "old.graphql"
    old.write_text(now)
    assert pinway("schema", "check", str(old)).exit_code == 0
    old.write_text(now + "\nextend type Query { gone: Int }\n")
    done = pinway("schema", "check", str(old), "--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["breaking"] == ["Field Query.gone was removed."]
    old.write_text("nonsense {")
    assert pinway("schema", "check", str(old)).exit_code == 1


def test_a_new_value_of_an_enum_may_surprise() -> None:
    found = changes("type Query {a: E} enum E {X}", "type Query {a: E} enum E {X Y}")
    assert (len(found.breaking), len(found.dangerous)) == (0, 1)


def test_a_plan_grows_with_its_load_and_prints_each_formula() -> None:
    small, large = (
        {line.name: line for line in plan.plan(plan.Demand(users, users // 2, 100))}
        for users in (10**6, 10**8)
    )
    for name, line in small.items():
        assert line.formula
        if not name.startswith("breaks"):
            assert large[name].value >= line.value
    assert large["fan-out at peak"].value == pytest.approx(100 * small["fan-out at peak"].value)
    arguments = ["--users", "1000", "--pins-per-day", "0", "--follows", "0"]
    assert pinway("plan", *arguments).exit_code == 0
    assert answered("plan", *arguments, "--json")[-1]["name"] == "breaks first: gateway cores"


class Source(NamedTuple):
    """The benchmark figure of a constant: a file of bench/results, and a measure in it."""

    file: str
    measure: str


SOURCES = {
    "VISIT_MS": Source("execution.json", "new visit on real servers: cost"),
    "PAGE_MS": Source("execution.json", "visit named again on real servers: cost"),
    "VISIT_JOB_MS": Source("visits.json", "the job of a first visit"),
    "COMMITS_A_SERVER": Source(
        "order.json", "MariaDB: reorders/s of 32 clients on one board of 10,000"
    ),
    "DELIVERIES_A_WORKER": Source("following.json", "embedded: deliveries to full feeds"),
    "CELLS_A_SERVER": Source("plan.json", "HBase: cells/s of 4 clients, batches of 1,000"),
    "PIN_BYTES": Source("plan.json", "SQLite: bytes a pin"),
}
"""The benchmark figure of each measured constant of a plan."""


@pytest.mark.parametrize("constant", SOURCES)
def test_a_constant_of_the_plan_is_a_benchmark_figure(constant: str) -> None:
    source = SOURCES[constant]
    rows = json.loads((ROOT / "bench/results" / source.file).read_text())
    [measured] = [row["value"] for row in rows if row["measure"] == source.measure]
    assert getattr(plan, constant) == pytest.approx(measured, rel=0.2)


def test_the_page_on_plans_names_each_source() -> None:
    page = (ROOT / "docs/how-to/plan.md").read_text()
    assert [source for source in SOURCES.values() if source.measure not in page] == []
    assert [source for source in SOURCES.values() if source.file not in page] == []


def test_completion_knows_the_commands() -> None:
    for shell in ("bash", "zsh", "fish"):
        done = pinway("completion", shell)
        assert (done.exit_code, "_PINWAY_COMPLETE" in done.stdout) == (0, True)


def test_a_worker_refuses_stores_of_one_process(tmp_path: Path) -> None:
    done = pinway("worker", "--data-dir", str(tmp_path), "--queues", "urgent")
    assert (done.exit_code, "embedded stores belong to one process" in done.output) == (1, True)
    done = pinway("worker", "--data-dir", str(tmp_path), "--queues", "hasty")
    assert "queues: must be some of urgent, normal, bulk" in done.output
    assert read_settings(options={"jobs.queues": "bulk,urgent"}).jobs.queues == ("bulk", "urgent")


def test_jobs_that_are_not_there_are_one_line(data: Path) -> None:
    assert answered("jobs", "list", "--data-dir", str(data), "--json")["jobs"] == []
    done = pinway("jobs", "drop", "1:99", "--data-dir", str(data))
    assert (done.exit_code, "there is no job 1:99" in done.output) == (1, True)
    assert pinway("jobs", "retry", "--data-dir", str(data)).exit_code == 2
    assert answered("jobs", "retry", "--all", "--data-dir", str(data), "--json")["changed"] == []


def test_the_graph_of_related_pins_is_built_and_its_state_is_told(data: Path) -> None:
    def status() -> tuple[int, dict[str, Any]]:
        done = pinway("related", "status", "--data-dir", str(data), "--json")
        return done.exit_code, json.loads(done.stdout)

    exit_code, told = status()
    assert (exit_code, told["state"]) == (3, "absent")
    built = answered("related", "build", "--data-dir", str(data), "--json")
    assert (built["state"], built["pins"], built["edges"]) == ("ok", 0, 0)
    exit_code, told = status()
    assert (exit_code, told["state"]) == (0, "ok")
    Path(told["file"]).write_bytes(b"damaged")
    exit_code, told = status()
    assert (exit_code, told["state"]) == (3, "damaged")
    words = pinway("related", "status", "--data-dir", str(data)).stdout
    assert "too short" in words
    assert "the newest pins beside" in words


def test_a_graph_that_is_older_than_its_log_is_told(data: Path) -> None:
    settings = read_settings(options={"data_dir": data})
    answered("related", "build", "--data-dir", str(data), "--json")
    now = time.time_ns() // 1_000_000
    assert graph_status(settings, now + 2 * DAY)["state"] == "ok"
    assert graph_status(settings, now + 4 * DAY)["state"] == "old"


def test_what_can_not_be_read_or_reached_is_said_in_plain_words(data: Path, tmp_path: Path) -> None:
    done = pinway("schema", "check", str(tmp_path / "old.graphql"))
    assert done.stderr.endswith("old.graphql: No such file or directory\n")
    url = f"http://127.0.0.1:{free_port()}"
    done = pinway("feed", "status", "--data-dir", str(data), "--url", url)
    assert f"no gateway answers at {url} (Connection refused): start one" in done.stderr


def test_the_readme_lists_every_command() -> None:
    readme = (ROOT / "README.md").read_text()
    assert isinstance(main, click.Group)
    assert [name for name in main.commands if f"`pinway {name}" not in readme] == []


class Servers:
    """Shards on servers whose settings were asked."""

    async def setting_faults(self) -> dict[str, list[str] | None]:
        return {
            "A": [],
            "B": ["sync_binlog is 0 and must be 1: else writes may be lost"],
            "C": None,
        }


@pytest.mark.anyio
async def test_doctor_tells_of_the_settings_of_each_server() -> None:
    found = await doctor._server_settings(SimpleNamespace(shards=Servers()))  # type: ignore[arg-type]
    assert [(finding.check, finding.state) for finding in found] == [
        ("settings A", "ok"),
        ("settings B", "fault"),
        ("settings C", "warning"),
    ]
    assert found[1].advice == "set sync_binlog in the server's configuration"

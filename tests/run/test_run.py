"""`pinway run`, as a newcomer meets it."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests import forked
from tests.demo import copy_demo
from tests.pinway_process import Serving, free_port, serving

HOME = "{ viewer { username } homeFeed(first: 10) { edges { node { title image { url } } } } }"


def test_the_home_feed_shows_pictures_that_the_gateway_serves(demo_gateway: Serving) -> None:
    answer = demo_gateway.ask(HOME)
    assert "errors" not in answer
    assert answer["data"]["viewer"] == {"username": "demo"}
    pins = [edge["node"] for edge in answer["data"]["homeFeed"]["edges"]]
    assert len(pins) == 10
    for pin in pins:
        assert pin["image"]["url"].startswith(demo_gateway.url)
        with urllib.request.urlopen(pin["image"]["url"], timeout=120) as picture:
            # Most pictures are drawn, and some are photographs.
            assert picture.headers["content-type"].startswith(("image/svg+xml", "image/webp"))
            assert picture.read()


def test_what_to_open_and_the_token_are_printed(demo_gateway: Serving) -> None:
    printed = demo_gateway.log.read_text()
    assert f"{demo_gateway.url}/graphql" in printed
    assert re.search(r"Token\s+eyJ", printed)


def test_every_sample_of_graphiql_runs(demo_gateway: Serving) -> None:
    for tab in demo_gateway.boot["tabs"]:
        send = demo_gateway.event if "\nsubscription " in tab["query"] else demo_gateway.ask
        answer = send(tab["query"], **json.loads(tab["variables"]))
        assert "errors" not in answer, (tab["title"], answer)
        for payload in answer["data"].values():
            assert not payload.get("errors"), (tab["title"], payload)


def test_a_busy_port_is_one_clear_line(demo_gateway: Serving, tmp_path: Path) -> None:
    port = demo_gateway.url.rpartition(":")[2]
    failed = run(tmp_path / "other", "--port", port)
    assert_one_line(failed, port, "in use")


def test_a_data_directory_in_use_is_one_clear_line(demo_gateway: Serving) -> None:
    failed = run(demo_gateway.data, "--port", str(free_port()))
    assert_one_line(failed, str(demo_gateway.data))


def test_ctrl_c_stops_it_and_its_children_and_the_next_start_keeps_the_data(
    filled_demo: Path, tmp_path: Path
) -> None:
    data = copy_demo(filled_demo, tmp_path / "data")
    with serving(data, typed=True) as served:
        board = 'mutation { createBoard(input: {name: "Kept"}) { board { id } } }'
        id = served.ask(board)["data"]["createBoard"]["board"]["id"]
        assert len(processes_on(data)) == 2  # Valkey runs beside it
        assert served.stop() == 0
        assert processes_on(data) == []
    with serving(data) as served:
        answer = served.ask("query($id: ID!) { board(id: $id) { name } }", id=id)
        assert answer == {"data": {"board": {"name": "Kept"}}}
        served.stop()


def test_sigterm_stops_it_and_its_children_as_ctrl_c_does(
    filled_demo: Path, tmp_path: Path
) -> None:
    data = copy_demo(filled_demo, tmp_path / "data")
    with serving(data, typed=True) as served:
        assert len(processes_on(data)) == 2
        served.process.terminate()
        assert served.process.wait(300) == 0
        assert processes_on(data) == []


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("topology.json", b"{", "move {data} away"),
        ("shards/db00003.sqlite", b"no database" * 99, "move {data} away"),
        ("feeds/primary/MANIFEST-000001", b"noise", "move it away"),
        ("valkey/appendonlydir/appendonly.aof.manifest", b"noise", "move that directory away"),
        ("auth_secret", b"", "remove it"),
    ],
)
def test_a_corrupt_data_directory_is_one_clear_line_with_one_advice(
    tmp_path: Path, name: str, content: bytes, advice: str
) -> None:
    data = tmp_path / "data"
    path = data / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    failed = run(data, "--port", str(free_port()))
    assert_one_line(failed, str(data), advice.format(data=data))
    assert failed.stderr.count(" away") <= 1


def test_a_wrong_setting_is_one_clear_line(tmp_path: Path) -> None:
    config = tmp_path / "pinway.toml"
    config.write_text('stores.queue = "rabbit://localhost"\n')
    failed = run(tmp_path / "data", "--config", str(config), "--port", str(free_port()))
    assert_one_line(failed, "queue", "redis://")


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`pinway run`, which ends by itself."""
    return forked.run("pinway", "run", "--data-dir", str(data), *arguments)


def assert_one_line(done: subprocess.CompletedProcess[str], *named: str) -> None:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    # On a busy machine, the start may take long enough for a message.
    lines = [line for line in lines if not line.startswith("still waiting for ")]
    assert done.returncode == 1, done.stderr
    assert len(lines) == 1, done.stderr
    for text in named:
        assert text in lines[0]


def processes_on(data: Path) -> list[str]:
    """The processes that name a data directory and are still running."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [row[1] for row in rows if str(data) in row[1] and not row[0].startswith("Z")]

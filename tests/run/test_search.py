"""The search index of `pinway run`: at the first start, while it is rebuilt, and after a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests import forked
from tests.demo import copy_demo
from tests.pinway_process import ROOT, Serving, serving

SEARCH = (
    """query($text: String!) { search(text: $text) { edges { node { ... on Pin { title } } } } }"""
)


def pinway(*arguments: str) -> subprocess.CompletedProcess[str]:
    return forked.run("pinway", *arguments)


def titles(served: Serving, text: str) -> list[str]:
    """The pins that are found, as soon as there are any. pytest-timeout bounds the wait."""
    while True:
        response = served.ask(SEARCH, text=text)
        if "errors" in response:
            (error,) = response["errors"]
            assert error["extensions"]["code"] == "UNAVAILABLE"
        elif edges := response["data"]["search"]["edges"]:
            return [edge["node"].get("title", "") for edge in edges]
        time.sleep(0.05)  # nothing tells when the index has changed


def add_pin(served: Serving, title: str) -> None:
    made = served.ask(
        'mutation { createBoard(input: {name: "Marsh"}) { board { id } errors { message } } }'
    )
    id = made["data"]["createBoard"]["board"]["id"]
    query = "mutation($input: CreatePinInput!) { createPin(input: $input) { errors { message } } }"
    response = served.ask(query, input={"boardId": id, "title": title})
    assert response["data"]["createPin"]["errors"] == []


def status(data: Path) -> tuple[int, dict[str, Any]]:
    done = pinway("search", "status", "--json", "--data-dir", str(data))
    return done.returncode, json.loads(done.stdout)


def test_the_index_is_there_at_the_first_start_and_survives_kills_rebuilds_and_damage(
    filled_demo: Path, tmp_path: Path
) -> None:
    data = copy_demo(filled_demo, tmp_path / "data")
    with serving(data) as served:
        assert titles(served, "python")
        add_pin(served, "Phragmites")
        assert titles(served, "phragmites") == ["Phragmites"]
        done = pinway("search", "rebuild", "--json", "--data-dir", str(data))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["state"] == "ok"
        assert titles(served, "phragmites") == ["Phragmites"]
        add_pin(served, "Typha")
        assert titles(served, "typha") == ["Typha"], "the writer uses the new index"
        os.killpg(served.process.pid, signal.SIGKILL)
        served.process.wait()
    code, found = status(data)
    assert (code, found["state"]) == (0, "ok")
    assert found["documents"] > 1_000
    (index,) = (data / "search" / "index").glob("index-*")
    for terms in index.glob("*.term"):
        terms.write_bytes(terms.read_bytes()[:-9])
    code, found = status(data)
    assert (code, found["state"]) == (3, "damaged")
    with serving(data) as served:
        response = served.ask('{ viewer { username } search(text: "python") { edges { cursor } } }')
        assert response["data"]["viewer"] == {"username": "demo"}, "whatever the index is"
        while status(data)[1]["state"] != "ok":
            time.sleep(0.05)  # nothing tells when the index was built
        assert set(titles(served, "typha")) == {"Typha"}
        assert served.stop() == 0


def test_a_rebuild_that_is_killed_is_repeated(filled_demo: Path, tmp_path: Path) -> None:
    data = copy_demo(filled_demo, tmp_path / "data")
    folder = data / "search" / "index"
    with subprocess.Popen(
        [sys.executable, "-m", "pinway", "search", "rebuild", "--data-dir", str(data)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while not [*folder.glob("index-*/meta.json")] and process.poll() is None:
            time.sleep(0.001)  # nothing tells when the build has begun
        process.kill()
    done = pinway("search", "rebuild", "--json", "--data-dir", str(data))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] > 1_000
    assert len([*folder.glob("index-*")]) == 1

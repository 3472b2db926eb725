"""`pinway` reads its trusted documents again on SIGHUP, without a pause, and survives a broken
file."""

import json
import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests.demo import copy_demo
from tests.pinway_process import Serving, serving

DEADLINE = 600.0


def answer(served: Serving, id_: str) -> object:
    return httpx.post(f"{served.url}/graphql", json={"documentId": id_}, timeout=300).json()


def until_told(served: Serving, line: str, times: int = 1) -> None:
    deadline = time.monotonic() + DEADLINE
    while served.log.read_text().count(line) < times:
        assert time.monotonic() < deadline, served.log.read_text()[-3000:]
        time.sleep(0.02)  # nothing tells when a line is logged


def test_a_hang_up_replaces_the_documents_and_a_broken_file_replaces_none(
    filled_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tmp_path / "persisted.json"
    manifest.write_text(json.dumps({"one": "{ __typename }"}))
    monkeypatch.setenv("PINWAY_HTTP__TRUSTED_DOCUMENTS", str(manifest))
    monkeypatch.setenv("PINWAY_HTTP__TRUSTED_DOCUMENTS_ONLY", "true")
    data = copy_demo(filled_demo, tmp_path / "data")
    found, missing = {"data": {"__typename": "Query"}}, "PERSISTED_QUERY_NOT_IN_LIST"
    with serving(data) as served:
        assert answer(served, "one") == found
        assert missing in str(answer(served, "two"))

        manifest.write_text(json.dumps({"two": "query Two { __typename }"}))
        os.kill(served.process.pid, signal.SIGHUP)
        until_told(served, "trusted documents")
        until_told(served, "SIGHUP: read")
        assert missing in str(answer(served, "one"))
        assert answer(served, "two") == found

        manifest.write_text('{"three": ')
        os.kill(served.process.pid, signal.SIGHUP)
        until_told(served, "stay as they were")
        [line] = [one for one in served.log.read_text().splitlines() if "stay as" in one]
        assert f"{manifest} is not valid JSON" in line
        assert "Traceback" not in served.log.read_text()
        assert answer(served, "two") == found
        assert served.stop() == 0

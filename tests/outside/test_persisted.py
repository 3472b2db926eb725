"""Clients send a document's hash, by POST and by GET, and know when to send the document."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.demo import copy_demo
from tests.outside.node_tools import ROOT, WEB, ensure_chromium, npm_ci, run_client
from tests.pinway_process import serving

SCHEMA = ROOT / "schema" / "schema.graphql"


@pytest.fixture(scope="module")
def seen(gateway_url: str, demo_token: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    return run_client("persisted", gateway_url, demo_token)


@pytest.mark.parametrize("client", ["apollo", "urql"])
@pytest.mark.parametrize("method", ["post", "get"])
def test_a_client_sends_the_document_once_and_the_next_client_its_hash_alone(
    seen: dict[str, dict[str, dict[str, list[str]]]], client: str, method: str
) -> None:
    found = seen[client][method]
    assert found["names"] == ["demo", "demo"]
    first, second, third = found["sent"]
    assert first == third == f"{method.upper()} hash"
    assert second.endswith("document and hash")


@pytest.mark.nightly
def test_each_tools_manifest_serves_its_clients_and_nothing_else_is_run(
    filled_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm_ci(WEB)
    folder = tmp_path / "manifests"
    folder.mkdir()
    places = {"FOLDER": str(folder), "SCHEMA": str(SCHEMA), "WEB": str(WEB)}
    ids: dict[str, Any] = run_client("manifests", "unused", "", **places)
    manifests = [
        folder / "relay" / "persisted.json",
        folder / "apollo" / "persisted.json",
        folder / "codegen" / "gen" / "persisted-documents.json",
    ]
    monkeypatch.setenv("PINWAY_HTTP__TRUSTED_DOCUMENTS", ",".join(map(str, manifests)))
    monkeypatch.setenv("PINWAY_HTTP__TRUSTED_DOCUMENTS_ONLY", "true")
    with serving(copy_demo(filled_demo, tmp_path / "data")) as served:
        found = run_client(
            "trusted",
            served.url,
            served.token,
            **{"FOLDER": str(folder), "IDS": json.dumps(ids), "CHROMIUM": str(ensure_chromium())},
        )
    assert found["apollo"] == {"trusted": "demo", "refused": "QUERY_NOT_IN_SAFELIST"}
    assert found["urql"] == "demo"
    assert found["relay"] == {"texts": 0, "answered": True}
    web = found["web"]
    assert {"HomeFeed", "PinPage", "ProfilePage"} <= set(web["names"])
    assert (web["texts"], web["refused"], web["pageErrors"]) == (0, 0, [])

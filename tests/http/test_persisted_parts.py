"""Persisted and trusted documents whose answers come in parts."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.documents.automatic import digest_of
from tests.http.test_persisted import code, gateway, hashed, sent

pytestmark = pytest.mark.anyio
ACCEPT = "multipart/mixed;deferSpec=20220824, application/json"
TEXT = """query Named($name: String!) {
  user(username: $name) { id ...Name @defer(label: "name") }
  users(first: 2) { edges @stream(initialCount: 0, label: "users") { node { username } } }
}
fragment Name on User { username }"""
NAME = {"data": {"username": "ann"}, "path": ["user"], "label": "name"}
USERS = {
    "items": [{"node": {"username": "ann"}}],
    "path": ["users", "edges", 0],
    "label": "users",
}


def parts_of(answer: httpx.Response) -> list[dict[str, Any]]:
    """The entries of all later parts, after a first part without them."""
    assert answer.headers["content-type"].startswith("multipart/mixed"), answer.text
    *pieces, end = answer.text.split("\r\n---")
    first, *later = [json.loads(p.split("\r\n\r\n")[1]) for p in pieces if p.strip()]
    assert end.strip() == "--"
    assert first["hasNext"]
    assert list(first["data"]["user"]) == ["id"]
    assert first["data"]["users"] == {"edges": []}
    assert [part["hasNext"] for part in later] == [True] * (len(later) - 1) + [False]
    return [entry for part in later for entry in part["incremental"]]


def in_order(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=lambda entry: str(entry["label"]))


async def test_a_registered_document_comes_in_parts_by_post_and_whole_by_get(
    tmp_path: Path,
) -> None:
    hash_ = hashed(digest_of(TEXT))
    async with gateway(tmp_path) as c:
        c.headers["accept"] = ACCEPT
        assert code(await sent(c, extensions=hash_))[1] == "PERSISTED_QUERY_NOT_FOUND"
        for message in ({"query": TEXT}, {}, {}):
            answer = await sent(c, extensions=hash_, **message)
            assert in_order(parts_of(answer)) == [NAME, USERS]
        whole = await sent(c, "GET", extensions=hash_)
        assert whole.headers["content-type"].startswith("application/json")
        data = whole.json()["data"]
        assert data["user"]["username"] == "ann"
        assert data["users"]["edges"] == USERS["items"]


async def test_a_document_that_is_registered_by_get_comes_in_parts_by_post(tmp_path: Path) -> None:
    hash_ = hashed(digest_of(TEXT))
    async with gateway(tmp_path) as c:
        c.headers["accept"] = ACCEPT
        assert (await sent(c, "GET", query=TEXT, extensions=hash_)).json()["data"]
        assert in_order(parts_of(await sent(c, extensions=hash_))) == [NAME, USERS]


async def test_trusted_documents_come_in_parts_and_others_are_refused(tmp_path: Path) -> None:
    manifest = tmp_path / "persisted.json"
    manifest.write_text(json.dumps({"parts": TEXT}))
    values = {"http.trusted_documents": [str(manifest)], "http.trusted_documents_only": True}
    async with gateway(tmp_path, values) as c:
        c.headers["accept"] = ACCEPT
        for named in ({"documentId": "parts"}, {"doc_id": "parts"}, {"query": TEXT}):
            assert in_order(parts_of(await sent(c, **named))) == [NAME, USERS]
        assert (await sent(c, "GET", documentId="parts")).json()["data"]["user"]["username"]
        other = TEXT.replace("initialCount: 0", "initialCount: 1")
        for refused, why in (
            ({"query": other}, "QUERY_NOT_IN_SAFELIST"),
            ({"documentId": "other"}, "PERSISTED_QUERY_NOT_IN_LIST"),
        ):
            answer = await sent(c, **refused)
            assert answer.headers["content-type"].startswith("application/json")
            assert code(answer)[1] == why

"""Attacks on persisted documents and public answers: no way around the list, the bounds, the cost,
and no secret in a shared cache."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.documents.automatic import digest_of
from gateway.http import persisted
from gateway.settings import Settings
from tests.http.test_admin import client, site

pytestmark = pytest.mark.anyio
TRUSTED = "query Named($name: String!) { user(username: $name) { username } }"
OWN = "query Named { users { edges { node { username } } } }"
DEAR = (
    "{ users(first: 100) { edges { node { boards(first: 100) { edges { node { pins(first: 100) "
    "{ edges { node { likedBy(first: 100) { edges { cursor } } } } } } } } } } } }"
)
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { token } }'
SECRET = """mutation { createBoard(input: {name: "hidden", secret: true}) { board { id } } }"""


def hashed(digest: str) -> dict[str, Any]:
    return {"persistedQuery": {"version": 1, "sha256Hash": digest}}


def codes(answer: httpx.Response) -> list[str]:
    return [error["extensions"]["code"] for error in answer.json().get("errors", ())]


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "persisted.json"
    path.write_text(json.dumps({"named": TRUSTED, "dear": DEAR}))
    return path


async def test_no_request_runs_a_document_that_is_not_in_the_list(
    tmp_path: Path, manifest: Path
) -> None:
    messages: list[dict[str, Any]] = [
        {"query": OWN},
        {"query": OWN, "operationName": "Named"},
        {"query": OWN, "extensions": hashed(digest_of(OWN))},
        {"query": OWN, "extensions": hashed("named")},
        {"query": OWN, "documentId": "named"},
        {"query": OWN, "doc_id": "named"},
        {"query": f"{TRUSTED}\n{OWN.replace('Named', 'Own')}", "operationName": "Own"},
        {"query": TRUSTED.replace(" ", ",")},
        {"query": f"#\n{TRUSTED}"},
        {"query": ""},
        {"extensions": hashed(digest_of(OWN))},
        {"documentId": f"sha256:{digest_of(OWN)}"},
        {"documentId": "sha256:sha256:named"},
        {"documentId": "../named"},
    ]
    values = {"http.trusted_documents": (str(manifest),), "http.trusted_documents_only": True}
    async with site(tmp_path / "data", values) as found, client(found.public) as c:
        for message in [*messages, *messages]:
            answer = await c.post("/graphql", json=message)
            assert codes(answer) in (["QUERY_NOT_IN_SAFELIST"], ["PERSISTED_QUERY_NOT_IN_LIST"])
            assert "data" not in answer.json()
        for message in messages:
            params = {k: v if isinstance(v, str) else json.dumps(v) for k, v in message.items()}
            answer = await c.get("/graphql", params=params)
            assert codes(answer) in (["QUERY_NOT_IN_SAFELIST"], ["PERSISTED_QUERY_NOT_IN_LIST"])
        answer = await c.post("/graphql", json={"documentId": "named", "variables": {"name": "x"}})
        assert answer.json() == {"data": {"user": None}}


async def test_the_cost_of_a_trusted_and_of_a_registered_document_is_bounded(
    tmp_path: Path, manifest: Path
) -> None:
    async with (
        site(tmp_path / "data", {"http.trusted_documents": (str(manifest),)}) as found,
        client(found.public) as c,
    ):
        trusted = await c.post("/graphql", json={"documentId": "dear"})
        own = DEAR.replace("cursor", "node { id }")
        sent = await c.post("/graphql", json={"query": own, "extensions": hashed(digest_of(own))})
        by_hash = await c.post("/graphql", json={"extensions": hashed(digest_of(own))})
        for answer in (trusted, sent, by_hash):
            assert codes(answer) == ["COST_EXCEEDED"]


async def test_running_a_registered_document_is_charged_like_its_text(tmp_path: Path) -> None:
    page = "{ interests(first: 100) { edges { node { id name slug description } } } }"
    by_hash = {"extensions": hashed(digest_of(page))}
    async with (
        site(
            tmp_path, {"limits.rate_cost": 1, "limits.rate_burst": 1_000, "limits.max_cost": 1_000}
        ) as found,
        client(found.public) as c,
    ):
        answer = await c.post("/graphql", json={"query": page, **by_hash})
        assert answer.status_code == 200
        statuses = [(await c.post("/graphql", json=by_hash)).status_code for _ in range(12)]
        assert 429 in statuses


async def test_a_document_that_is_too_long_is_neither_hashed_nor_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed_texts: list[int] = []

    def digest(text: str) -> str:
        hashed_texts.append(len(text))
        return digest_of(text)

    monkeypatch.setattr(persisted, "digest_of", digest)
    long = "{ __typename }" + " " * Settings().limits.numbers.query_length
    async with site(tmp_path) as found, client(found.public) as c:
        for text in (long, "{ __typename }"):
            message = {"query": text, "extensions": hashed(digest_of(text))}
            answer = await c.post("/graphql", json=message)
            assert codes(answer) == (["GRAPHQL_PARSE_FAILED"] if text is long else [])
        assert hashed_texts == [len("{ __typename }")]
        answer = await c.post("/graphql", json={"extensions": hashed(digest_of(long))})
        assert codes(answer) == ["PERSISTED_QUERY_NOT_FOUND"]


async def test_another_clients_answer_is_never_a_strangers(tmp_path: Path) -> None:
    async with site(tmp_path, {"http.public_max_age": 3_600}) as found, client(found.public) as c:
        signed = await c.post("/graphql", json={"query": SIGN_UP})
        token = {"authorization": f"Bearer {signed.json()['data']['signUp']['token']}"}
        made = await c.post("/graphql", json={"query": SECRET}, headers=token)
        id_ = made.json()["data"]["createBoard"]["board"]["id"]
        query = f'{{ board(id: "{id_}") {{ name }} }}'
        own = await c.get("/graphql", params={"query": query}, headers=token)
        assert own.json() == {"data": {"board": {"name": "hidden"}}}
        assert own.headers["cache-control"] == "private, no-store"
        stranger = await c.get("/graphql", params={"query": query})
        absent = await c.get("/graphql", params={"query": query.replace(id_, str(int(id_) + 4))})
        for answer in (stranger, absent):
            assert answer.json() == {"data": {"board": None}}
            assert "Authorization" in answer.headers["vary"]
        kept = [answer.headers["cache-control"] for answer in (stranger, absent)]
        assert kept[0] == kept[1], "a cache's header tells that the board exists"

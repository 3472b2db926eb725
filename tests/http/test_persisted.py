"""Requests that name a document by its id or hash: trusted documents, and Apollo's automatic
persisted queries."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from datasources.errors import ConfigError
from gateway.documents.automatic import digest_of
from gateway.http.web_client import MANIFEST
from tests.http.test_admin import client, site

pytestmark = pytest.mark.anyio
GRAPHQL_JSON = "application/graphql-response+json"
TEXT = "query Named($name: String!) { user(username: $name) { username } }"
MUTATION = 'mutation { signUp(input: {username: "eve"}) { user { username } } }'
ANN = {"data": {"user": {"username": "ann"}}}
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { user { username } } }'


def hashed(digest: str, version: int = 1) -> dict[str, Any]:
    return {"persistedQuery": {"version": version, "sha256Hash": digest}}


@asynccontextmanager
async def gateway(
    directory: Path, values: Mapping[str, object] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway with the user ann."""
    async with site(directory / "data") as open_to_all, client(open_to_all.public) as c:
        assert (await c.post("/graphql", json={"query": SIGN_UP})).status_code == 200
    async with site(directory / "data", values) as found, client(found.public) as c:
        yield c


async def sent(c: httpx.AsyncClient, method: str = "POST", **message: Any) -> httpx.Response:
    message = {"variables": {"name": "ann"}, **message}
    if method == "POST":
        return await c.post("/graphql", json=message)
    params = {k: v if isinstance(v, str) else json.dumps(v) for k, v in message.items()}
    return await c.get("/graphql", params=params)


def code(answer: httpx.Response) -> tuple[str, str]:
    [error] = answer.json()["errors"]
    return error["message"], error["extensions"]["code"]


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "persisted.json"
    path.write_text(json.dumps({"named": TEXT, digest_of(MUTATION): MUTATION}))
    return path


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_hash_is_registered_with_its_document_and_then_stands_for_it(
    tmp_path: Path, method: str
) -> None:
    hash_ = hashed(digest_of(TEXT))
    async with gateway(tmp_path) as c:
        unknown = await sent(c, method, extensions=hash_)
        assert code(unknown) == ("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        assert unknown.status_code == 200
        assert (await sent(c, method, query=TEXT, extensions=hash_)).json() == ANN
        for again in ("POST", "GET"):
            assert (await sent(c, again, extensions=hash_)).json() == ANN
        by_spec = await sent(c, method, documentId=f"sha256:{digest_of(TEXT)}")
        assert by_spec.json() == ANN


async def test_an_unknown_hash_is_a_400_for_the_newer_media_type_and_is_never_stored(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path) as c:
        c.headers["accept"] = GRAPHQL_JSON
        for method in ("POST", "GET"):
            answer = await sent(c, method, extensions=hashed("0" * 64))
            assert answer.status_code == 400
            assert code(answer)[1] == "PERSISTED_QUERY_NOT_FOUND"
        assert answer.headers["cache-control"] == "private, no-store"


async def test_a_document_that_does_not_match_its_hash_runs_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as c:
        for digest in (digest_of(TEXT), digest_of(MUTATION).upper(), ""):
            answer = await sent(c, query=MUTATION, extensions=hashed(digest), variables={})
            assert (answer.status_code, code(answer)) == (
                400,
                ("provided sha does not match query", "BAD_USER_INPUT"),
            )
        eve = await sent(c, query=TEXT, variables={"name": "eve"})
        assert eve.json() == {"data": {"user": None}}
        answer = await sent(c, extensions=hashed(digest_of(TEXT)))
        assert code(answer)[1] == "PERSISTED_QUERY_NOT_FOUND"


async def test_a_refused_document_is_not_registered(tmp_path: Path) -> None:
    wrong = "{ nothing }"
    async with gateway(tmp_path) as c:
        for _ in range(2):
            answer = await sent(c, query=wrong, extensions=hashed(digest_of(wrong)), variables={})
            assert answer.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
            answer = await sent(c, extensions=hashed(digest_of(wrong)))
            assert code(answer)[1] == "PERSISTED_QUERY_NOT_FOUND"


async def test_a_registered_mutation_is_not_run_by_get(tmp_path: Path) -> None:
    hash_ = hashed(digest_of(MUTATION))
    async with gateway(tmp_path) as c:
        answer = await sent(c, "GET", query=MUTATION, extensions=hash_, variables={})
        assert answer.status_code == 405
        eve = await sent(c, query=TEXT, variables={"name": "eve"})
        assert eve.json() == {"data": {"user": None}}
        answer = await sent(c, query=MUTATION, extensions=hash_, variables={})
        assert answer.json() == {"data": {"signUp": {"user": {"username": "eve"}}}}
        answer = await sent(c, "GET", extensions=hash_, variables={})
        assert answer.status_code == 405


WRONG: list[Any] = [None, True, "0" * 64, {}, {"version": 1}, {"version": 1, "sha256Hash": 5}]
WRONG += [{"version": 2, "sha256Hash": "0" * 64}, {"sha256Hash": "0" * 64}]


async def test_a_wrong_extension_is_told(tmp_path: Path) -> None:
    async with gateway(tmp_path) as c:
        for persisted in WRONG:
            for query in ({}, {"query": TEXT}):
                answer = await sent(c, extensions={"persistedQuery": persisted}, **query)
                assert answer.status_code == 400
                assert code(answer)[0].startswith("extensions.persistedQuery must be")


async def test_without_registration_clients_are_told_to_send_documents(tmp_path: Path) -> None:
    async with gateway(tmp_path, {"http.automatic_documents": 0, "http.web": False}) as c:
        answer = await sent(c, extensions=hashed(digest_of(TEXT)))
        assert code(answer) == ("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
        both = await sent(c, query=TEXT, extensions=hashed(digest_of(TEXT)))
        assert both.json() == ANN
        answer = await sent(c, extensions=hashed(digest_of(TEXT)))
        assert code(answer)[1] == "PERSISTED_QUERY_NOT_SUPPORTED"


@pytest.mark.parametrize("only", [True, False])
async def test_a_trusted_document_is_found_by_each_way_to_name_it(
    tmp_path: Path, manifest: Path, only: bool
) -> None:
    async with gateway(
        tmp_path, {"http.trusted_documents": (str(manifest),), "http.trusted_documents_only": only}
    ) as c:
        for method in ("POST", "GET"):
            for named in (
                {"extensions": hashed("named")},  # an Apollo client with a manifest's id
                {"documentId": "named"},
                {"doc_id": "named"},  # Relay
                {"query": TEXT},
                {"query": TEXT, "extensions": hashed("named")},
                {"query": TEXT, "extensions": hashed(digest_of(TEXT))},
            ):
                answer = await sent(c, method, **named)
                assert answer.json() == ANN, named
        wrong = await sent(c, query=TEXT, extensions=hashed(digest_of(MUTATION)))
        assert code(wrong)[0] == "provided sha does not match query"
        for named in ({"documentId": 5}, {"doc_id": []}, {"documentId": ""}, {}):
            assert (await sent(c, **named)).status_code == 400


async def test_trusted_documents_only_refuses_all_else(tmp_path: Path, manifest: Path) -> None:
    own = "{ __typename }"
    async with gateway(
        tmp_path, {"http.trusted_documents": (str(manifest),), "http.trusted_documents_only": True}
    ) as c:
        for method in ("POST", "GET"):
            for named in ({}, {"extensions": hashed(digest_of(own))}):
                answer = await sent(c, method, query=own, variables={}, **named)
                assert answer.status_code == 200
                assert code(answer)[1] == "QUERY_NOT_IN_SAFELIST"
            for named in (
                {"extensions": hashed(digest_of(own))},
                {"documentId": "x" * 5_000},
                {"doc_id": "other"},
            ):
                answer = await sent(c, method, variables={}, **named)
                message, told = code(answer)
                assert told == "PERSISTED_QUERY_NOT_IN_LIST"
                assert len(message) < 200
        whitespace = await sent(c, query=TEXT + " ")
        assert code(whitespace)[1] == "QUERY_NOT_IN_SAFELIST"


@pytest.fixture
def broken(manifest: Path) -> Path:
    manifest.write_text("{")
    return manifest


async def test_a_broken_manifest_ends_the_start(tmp_path: Path, broken: Path) -> None:
    with pytest.raises(ConfigError, match="not valid JSON"):
        async with gateway(tmp_path, {"http.trusted_documents": (str(broken),)}):
            pass


async def test_the_web_clients_documents_are_trusted_where_the_client_is_served(
    tmp_path: Path,
) -> None:
    documents = json.loads(MANIFEST.read_text())
    id_, text = next(iter(documents.items()))
    assert id_ == digest_of(text)
    async with gateway(tmp_path, {"http.trusted_documents_only": True}) as c:
        found = await sent(c, extensions=hashed(id_), operationName="Nothing")
        assert "no operation" in code(found)[0]
    async with gateway(tmp_path, {"http.trusted_documents_only": True, "http.web": False}) as c:
        answer = await sent(c, extensions=hashed(id_))
        assert code(answer)[1] == "PERSISTED_QUERY_NOT_IN_LIST"

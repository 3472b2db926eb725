"""Clients that send a document's hash first fall back to the document, by POST and by GET."""

import pytest

from tests.outside.node_tools import run_client


@pytest.fixture(scope="module")
def seen(gateway_url: str, demo_token: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    return run_client("persisted", gateway_url, demo_token)


@pytest.mark.parametrize("client", ["apollo", "urql"])
@pytest.mark.parametrize("method", ["post", "get"])
def test_a_client_sends_the_document_after_the_refusal(
    seen: dict[str, dict[str, dict[str, list[str]]]], client: str, method: str
) -> None:
    found = seen[client][method]
    assert found["names"] == ["demo", "demo"]
    first, *later = found["sent"]
    assert first == f"{method.upper()} hash"
    assert later
    assert all("document" in each for each in later), "it asks with a hash once only"

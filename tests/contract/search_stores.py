"""The search stores that the contract is tested with, opened as other processes open them."""

import json
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from datasources.factory import open_search
from datasources.opensearch import Cluster, OpenSearch
from datasources.opensearch.lease import SECONDS
from datasources.protocols import SearchStore

PATIENT = 60.0
"""Seconds for a search: the server is new, and a machine may be busy."""


def opened(url: str, *, lease: float = SECONDS) -> SearchStore:
    """The store of a URL. `lease`: seconds after which others take a killed process' right over, if
    the store has such rights."""
    parts = urlsplit(url)
    if parts.scheme == "opensearch":
        assert parts.port is not None
        node = parts.hostname or "", parts.port
        return OpenSearch(Cluster((node,), parts.path[1:]), deadline=PATIENT, lease=lease)
    store = open_search(url)
    assert store is not None
    return store


def indexes(url: str) -> list[str]:
    """The names of a store's indexes: of the index in use, and of indexes that builds left."""
    parts = urlsplit(url)
    if parts.scheme == "tantivy":
        return [path.name for path in Path(parts.path).glob("index-*")]
    return sorted(asked(url, "GET", f"/{parts.path[1:]}-v*/_alias?expand_wildcards=all"))


def asked(url: str, method: str, path: str, body: object = None) -> dict[str, object]:
    """The answer of the server of an `opensearch://` URL."""
    request = urllib.request.Request(
        f"http://{urlsplit(url).netloc}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENT) as response:
        answer: dict[str, object] = json.load(response)
    return answer

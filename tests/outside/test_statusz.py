"""The operators' page in a real browser: live, complete, and without requests to other hosts."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.outside.node_tools import ensure_chromium, run_client


@pytest.fixture(scope="module")
def seen(gateway_url: str, demo_token: str) -> dict[str, Any]:
    """The results of one visit: see tests/outside/node/statusz.mjs."""
    return run_client("statusz", gateway_url, demo_token, CHROMIUM=str(ensure_chromium()))


def test_the_page_asks_no_other_host_and_nothing_fails(
    seen: dict[str, Any], gateway_url: str
) -> None:
    hosts = {urlsplit(url).netloc for url in seen["requests"] if not url.startswith("data:")}
    assert hosts == {urlsplit(gateway_url).netloc}
    assert (seen["failures"], seen["console"], seen["pageErrors"]) == ([], [], [])


def test_the_page_shows_every_store_the_work_and_both_feed_stores(seen: dict[str, Any]) -> None:
    assert seen["ready"] == "all is well"
    stores = dict(seen["stores"])
    assert {"shards local", "queue", "feeds_primary", "feeds_standby"} <= stores.keys()
    assert set(stores.values()) == {"well"}
    assert {"outbox rows", "oldest row", "rows set aside (dead letters)"} <= dict(
        seen["work"]
    ).keys()
    assert {"mapping_cache", "object_cache", "compiled documents"} <= dict(seen["caches"]).keys()
    assert [caption.split("primary")[0] for caption in seen["captions"]] == ["feeds", "pools"]
    assert all("cutoff" in caption for caption in seen["captions"])


def test_the_page_says_what_is_down_and_what_that_costs(seen: dict[str, Any]) -> None:
    assert seen["faults"] == ["queue: no answer. Cost: feeds fall behind."]
    assert seen["readyThen"] == "serves, 1 down"


def test_the_page_has_no_barriers_wide_and_on_a_phone_in_light_and_in_dark(
    seen: dict[str, Any],
) -> None:
    assert seen["violations"] == {}
    assert seen["violationsThen"] == []  # with a fault
    assert [title.split(":")[0] for title in seen["titles"]] == [
        "Latency of the store feeds",
        "Latency of the store pools",
    ]


def test_times_are_written_for_people(seen: dict[str, Any]) -> None:
    assert seen["captionsThen"] == [
        "feedsprimary 0.0412 msstandby –cutoff 20 ms",
        "poolsprimary 1 s, avoidedstandby 12.3 mscutoff 1.5 s",
    ]


def test_the_page_says_which_server_of_a_cache_is_passed_by(seen: dict[str, Any]) -> None:
    assert "object_cache at a:1" not in dict(seen["caches"])
    assert dict(seen["cachesThen"])["object_cache at a:1"] == "avoided: shards are read"

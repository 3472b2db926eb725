"""GraphiQL in a real browser: signed in, with samples that run, and without requests to other
hosts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.demo import copy_demo
from tests.outside.node_tools import ensure_chromium, run_client
from tests.pinway_process import Serving, serving

TABS = ["HomeFeed", "BoardWithPins", "ReorderPin", "FollowUser", "CreatePin", "BoardChanged"]
TABS += ["CreateSection", "InviteCollaborator"]


@pytest.fixture(scope="module")
def demo_gateway(filled_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A gateway for these tests alone. One of them names a foreign host, and GraphiQL's storage is
    the host's."""
    with serving(copy_demo(filled_demo, tmp_path_factory.mktemp("demo") / "data")) as served:
        yield served


@pytest.fixture(scope="module")
def gateway_url(demo_gateway: Serving) -> str:
    return demo_gateway.url


@pytest.fixture(scope="module")
def demo_token(demo_gateway: Serving) -> str:
    return demo_gateway.token


@pytest.fixture(scope="module")
def seen(gateway_url: str, demo_token: str) -> dict[str, Any]:
    """The results of one visit: see tests/outside/node/graphiql.mjs."""
    return run_client("graphiql", gateway_url, demo_token, CHROMIUM=str(ensure_chromium()))


def test_graphiql_asks_no_other_host_for_anything_and_nothing_fails(
    seen: dict[str, Any], gateway_url: str
) -> None:
    hosts = {urlsplit(url).netloc for url in seen["requests"] if not url.startswith("data:")}
    assert hosts == {urlsplit(gateway_url).netloc}
    assert seen["failures"] == []
    assert seen["console"] == []
    assert seen["pageErrors"] == []


def test_graphiql_opens_signed_in_and_every_sample_runs(seen: dict[str, Any]) -> None:
    assert "signed in as" in seen["banner"]
    assert seen["tabs"] == TABS
    assert "query HomeFeed" in seen["firstOperation"]

    feed = seen["homeFeed"]["data"]["homeFeed"]["edges"]
    assert len(feed) == 10
    assert seen["board"]["data"]["board"]["viewerCanEdit"] is True
    assert seen["reorder"]["data"]["reorderPin"]["errors"] == []
    assert seen["follow"]["data"]["followUser"]["user"]["viewerFollows"] is True
    assert seen["createPin"]["data"]["createPin"]["pin"]["title"] == "My first pin"


def test_graphiql_shows_each_event_of_a_subscription(seen: dict[str, Any]) -> None:
    first, second = [event["data"]["boardChanged"] for event in seen["events"]]
    assert (first["kind"], second["kind"]) == ("STARTED", "SAVED")
    assert second["pin"]["title"] == "My first pin"
    assert int(second["orderVersion"]) > int(first["orderVersion"])


def test_graphiql_shows_the_picture_that_an_image_url_of_the_answer_names(
    seen: dict[str, Any],
) -> None:
    feed = seen["homeFeed"]["data"]["homeFeed"]["edges"]
    pictures = [edge["node"]["image"]["url"] for edge in feed if edge["node"]["image"]]
    assert seen["preview"]["src"] == pictures[0]
    assert seen["preview"]["width"] > 0


def test_graphiql_opens_its_panes_and_a_sample_from_the_list(seen: dict[str, Any]) -> None:
    assert seen["panes"] == ["Docs", "History", "Explorer", "Samples"]
    assert "mutation FollowUser" in seen["sampleOpened"]


def test_graphiqls_tabs_are_buttons_of_which_one_is_current(seen: dict[str, Any]) -> None:
    assert seen["current"] == 1
    assert seen["roles"] == 0


def test_graphiql_draws_the_trace_of_an_operation(seen: dict[str, Any]) -> None:
    trace = seen["trace"]
    assert trace["kinds"][0] == "request"
    assert {"batch", "race", "store"} <= set(trace["kinds"])
    assert " ms · levels (loads) 1: " in trace["summary"]
    assert "cache hits" in trace["summary"]
    assert trace["widest"] is True
    assert trace["shown"] is False


def test_graphiql_keeps_the_rules_of_accessibility_wide_and_narrow_in_light_and_dark(
    seen: dict[str, Any],
) -> None:
    assert seen["looks"] == {}


def test_graphiql_is_refused_under_a_name_that_is_not_the_servers(seen: dict[str, Any]) -> None:
    assert seen["foreign"]["status"] == 421
    assert "no such host name" in seen["foreign"]["text"]


def test_graphiql_keeps_its_tabs_over_visits_and_mends_what_it_cannot_use(
    seen: dict[str, Any],
) -> None:
    assert seen["tabsAfterReload"] == [*TABS, "FollowUser"]
    assert seen["tabsAfterDamage"] == TABS
    board = seen["boardAfterNewContent"]["data"]["board"]
    assert board["id"] == seen["board"]["data"]["board"]["id"]


def test_an_operation_in_parts_shows_the_whole_at_the_end(seen: dict[str, Any]) -> None:
    assert seen["parts"]["type"].startswith("multipart/mixed")
    data = seen["parts"]["shown"]["data"]
    assert len(data["viewer"]["boards"]["edges"]) == 1
    assert len({edge["node"]["id"] for edge in data["homeFeed"]["edges"]}) == 3

"""Apollo's gateway composes Pinway with a second subgraph, and joins their objects."""

from pathlib import Path
from typing import Any

import pytest

from tests.demo import copy_demo
from tests.outside.node_tools import run_client
from tests.pinway_process import serving


@pytest.fixture(scope="module")
def seen(filled_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    data = copy_demo(filled_demo, tmp_path_factory.mktemp("federation") / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINWAY_HTTP__FEDERATION", "true")
        with serving(data) as served:
            return run_client("federation", served.url, served.token)


def titles(answer: dict[str, Any]) -> list[str | None]:
    reviews = answer["data"]["reviews"]
    return [review["pin"] and review["pin"]["title"] for review in reviews]


def test_objects_of_both_subgraphs_are_joined(seen: dict[str, dict[str, Any]]) -> None:
    own = seen["own"]
    assert titles(own) == ["one", "two", "three", "party", None]
    first = own["data"]["reviews"][0]
    assert first == {
        "text": "review 0",
        "pin": {"title": "one", "rating": 0},
        "author": {"username": "demo", "reviewCount": 5},
        "section": {"name": "Starters", "featured": True, "board": {"name": "Open"}},
        "board": {"name": "Open"},
    }
    board = seen["board"]["data"]["board"]
    assert (board["name"], board["reviewed"]) == ("Open", True)
    ratings = [edge["node"]["rating"] for edge in board["pins"]["edges"]]
    assert ratings == [2, 1, 0]
    [section] = board["sections"]["edges"]
    assert section["node"] == {"name": "Starters", "featured": True}


def test_all_objects_of_a_step_are_one_request(seen: dict[str, dict[str, Any]]) -> None:
    for answer in (seen["own"], seen["stranger"]):
        named = [each["__typename"] for sent in answer["requests"]["pinway"] for each in sent]
        assert {name: named.count(name) for name in named} == dict.fromkeys(
            ("Pin", "User", "Section", "Board"), 5
        )
        assert len(answer["requests"]["pinway"]) <= 4
    assert len(seen["board"]["requests"]["pinway"]) == 1


def test_a_strangers_router_gets_nothing_secret(seen: dict[str, dict[str, Any]]) -> None:
    stranger = seen["stranger"]
    assert titles(stranger) == ["one", "two", "three", None, None]
    boards = [review["board"] and review["board"]["name"] for review in stranger["data"]["reviews"]]
    assert boards == ["Open", "Open", "Open", None, "Open"]
    sections = [
        review["section"] and review["section"]["name"] for review in stranger["data"]["reviews"]
    ]
    assert sections == ["Starters", "Starters", "Starters", None, "Starters"]
    assert "party" not in str(stranger)
    assert "Guests" not in str(stranger)
    assert "Plans" not in str(stranger)

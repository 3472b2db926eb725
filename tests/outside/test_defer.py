"""Apollo Client, urql and Relay read a response in parts (@defer)."""

from typing import Any

from tests.outside.node_tools import ROOT, run_client

SCHEMA = ROOT / "schema" / "schema.graphql"


def test_clients_show_pins_before_their_counts(gateway_url: str, demo_token: str) -> None:
    seen = run_client("defer", gateway_url, demo_token, SCHEMA=str(SCHEMA))

    first: list[list[Any]] = [["two", None], ["one", None]]
    whole = [["two", 0], ["one", 0]]
    assert seen["apollo"][0] == seen["urql"][0] == first
    assert seen["apollo"][-1] == seen["urql"][-1] == whole
    assert seen["hasNext"][0] is True
    assert seen["hasNext"][-1] is False
    assert seen["whole"]["username"]
    assert seen["whole"]["pinCount"] >= 2
    for results in seen["streamed"]:
        assert (results[0], results[-1]) == (whole[:1], whole)
    wrong = seen["wrong"]
    assert wrong["apollo"] == wrong["urql"] == "Counts later"
    assert "cursor" in wrong["apolloError"]
    assert any("cursor" in message for message in wrong["urqlError"])
    assert sorted(seen["relay"]["first"]) == sorted(first)
    assert sorted(seen["relay"]["last"]) == sorted(whole)
    assert all(count >= 2 for _, count in seen["relay"]["users"])
    assert seen["relay"]["warnings"] == []

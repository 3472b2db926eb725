"""Relay's compiler accepts the schema's conventions, and its runtime pages and updates by them."""

from tests.outside.node_tools import ROOT, run_client

SCHEMA = ROOT / "schema" / "schema.graphql"


def test_relay_compiles_against_the_schema_and_pages_and_updates_its_connections(
    gateway_url: str, demo_token: str
) -> None:
    seen = run_client("relay", gateway_url, demo_token, SCHEMA=str(SCHEMA))

    assert "HomeFeedPaginationQuery.graphql.js" in seen["compiled"]
    assert "BoardPinsPaginationQuery.graphql.js" in seen["compiled"]
    feed = seen["homeFeed"]
    assert len(feed["first"]) == 5
    assert feed["both"][:5] == feed["first"]
    assert len(set(feed["both"])) == 10
    assert seen["board"] == {
        "typename": "Board",
        "paged": ["three", "two", "one"],
        "hasNext": False,
        "created": ["four", "three", "two", "one"],
        "likes": 1,
    }
    whole = ["six", "five", "four", "three", "two", "one"]
    assert seen["bothWays"]["pages"] == [whole[2:4], whole[1:4], whole[:4], whole]
    assert seen["bothWays"]["ends"] == [True, False, True, False]
    assert seen["likes"] == {"onTop": True, "added": 1, "left": 0}

"""Apollo Client reads pages into one list and shows what mutations change in its cache."""

from tests.outside.node_tools import run_client


def test_apollo_pages_through_the_home_feed_and_sees_its_mutations_in_the_normalized_cache(
    gateway_url: str, demo_token: str
) -> None:
    seen = run_client("apollo", gateway_url, demo_token)

    assert seen["pageSizes"] == [5, 5, 5]
    assert seen["visitAfterPaging"] == seen["visit"]
    assert len(set(seen["pins"])) == 15
    assert all(seen["reasons"])
    assert seen["health"] == {
        "__typename": "FeedHealth",
        "pools": "PRIMARY",
        "materialized": "PRIMARY",
        "mayBeStale": False,
    }
    pictures = [url for url in seen["pictures"] if url]
    assert pictures != []
    assert all(url.startswith(f"{gateway_url}/") for url in pictures)

    assert seen["likeErrors"] == []
    assert seen["likesAnswered"] == seen["likesBefore"] + 1
    assert seen["likesShown"] == seen["likesAnswered"]
    assert seen["codesWithoutToken"] == ["UNAUTHENTICATED"]

    board = seen["board"]
    assert board["before"] == ["three", "two", "one"]
    assert board["createErrors"] == []
    assert board["cachedAfterCreate"] == ["four", "three", "two", "one"]
    assert board["cachedPinCount"] == 4
    assert board["moveErrors"] == []
    assert board["afterMove"] == ["four", "two", "one", "three"]

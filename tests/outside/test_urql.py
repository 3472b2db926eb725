"""urql queries by POST and by GET, and refetches what a mutation has touched."""

from tests.outside.node_tools import run_client


def test_urql_queries_mutates_and_refetches(gateway_url: str, demo_token: str) -> None:
    seen = run_client("urql", gateway_url, demo_token)

    assert seen["pins"] == seen["pinsByGet"] == 5
    assert seen["viewer"] == seen["viewerByGet"]
    assert seen["board"] == {"shown": [["one"], ["two", "one"]], "errors": []}
    refusal = seen["refusal"]
    assert refusal["codes"] == ["BAD_USER_INPUT"] or refusal["errors"] != []

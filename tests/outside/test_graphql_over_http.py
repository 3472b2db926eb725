"""The gateway passes graphql-http's audit of GraphQL over HTTP, its recommendations included."""

from tests.outside.node_tools import run_client

AUDITS = 61


def test_every_audit_of_graphql_over_http_passes(gateway_url: str) -> None:
    results = run_client("audit", gateway_url, token="")["results"]
    failed = [
        f"{each['id']} {each['name']}: {each.get('reason')}"
        for each in results
        if each["status"] != "ok"
    ]
    assert failed == []
    assert len(results) == AUDITS

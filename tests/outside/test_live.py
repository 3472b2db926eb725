"""Clients of other projects follow a board and a pin: graphql-ws, graphql-sse, Apollo, urql."""

from tests.outside.node_tools import run_client


def test_clients_of_sockets_and_server_sent_events_see_changes(
    gateway_url: str, demo_token: str
) -> None:
    seen = run_client("live", gateway_url, demo_token)

    for client, name in (
        ("sockets", "graphql-ws"),
        ("serverSent", "graphql-sse"),
        ("apollo", "apollo"),
        ("urql", "urql"),
        ("relay", "relay"),
    ):
        shown = {key: seen[client][key] for key in ("started", "kind", "title")}
        assert shown == {"started": "STARTED", "kind": "SAVED", "title": name}
    assert seen["sockets"]["viewer"] == seen["serverSent"]["viewer"] != ""
    assert seen["wrongToken"] == 4403
    assert seen["pin"] == {"kind": "LIKED", "likes": 1}

"""The memcached server of each key."""

from collections import Counter

from datasources.memcached.node import Node, by_node

KEYS = [b"pinway:%d" % n for n in range(3000)]


def places(*names: str) -> dict[bytes, str]:
    nodes = [Node(name, 11211) for name in names]
    return {key: node.name for node, keys in by_node(nodes, KEYS).items() for key in keys}


def test_every_key_has_one_server_and_all_servers_have_a_fair_share() -> None:
    placed = places("a", "b", "c")
    assert sorted(placed) == sorted(KEYS)
    assert all(800 < count < 1200 for count in Counter(placed.values()).values())


def test_the_order_of_the_servers_does_not_matter() -> None:
    assert places("a", "b", "c") == places("c", "a", "b")


def test_a_server_that_goes_moves_its_own_keys_only() -> None:
    before, after = places("a", "b", "c"), places("a", "b")
    assert all(after[key] == name for key, name in before.items() if name != "c:11211")


def test_one_server_has_everything() -> None:
    assert set(places("a").values()) == {"a:11211"}

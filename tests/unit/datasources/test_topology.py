"""The topologies that are refused, at first and as the successor of another."""

from typing import Any

import msgspec
import pytest

from datasources.errors import StoreCorrupt
from datasources.topology import ModShards, Moving, ShardRange, Topology, check_next, dump, parse

GOOD = Topology(
    epoch=3,
    servers={"A": "mysql://10.0.0.1:3306", "B": "mysql://h", "C": "mysql://[::1]:3307"},
    shards=(ShardRange((0, 3), "A", "C"), ShardRange((4, 7), "B")),
    mod=ModShards(4, (ShardRange((0, 3), "A"),)),
)


def changed(**fields: Any) -> Topology:
    return msgspec.structs.replace(GOOD, **fields)


def test_a_good_one_comes_back_as_it_was() -> None:
    assert parse(dump(GOOD)) == GOOD


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("mysql://h:33o6", "not a URL"),
        ("mysql://h:99999", "not a URL"),
        ("mysql://h:0", "mysql://HOST:PORT"),
        ("mysql://", "mysql://HOST:PORT"),
        ("mysql://:3306", "mysql://HOST:PORT"),
        ("h:3306", "mysql://HOST:PORT"),
        ("10.0.0.1", "mysql://HOST:PORT"),
        ("", "mysql://HOST:PORT"),
        ("mysql://h/database", "mysql://HOST:PORT"),
        ("mysql://h?ssl=1", "must end before"),
        ("mysql://[half", "not a URL"),
        ("sqlite://shards", "absolute path"),
        ("mysql://10.0.0.1", "'A' and 'B' have the same address"),
    ],
)
def test_a_wrong_address_is_named(server: str, told: str) -> None:
    with pytest.raises(StoreCorrupt, match="'B'") as caught:
        parse(dump(changed(servers={**GOOD.servers, "B": server})))
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["", "é" * 33])
def test_a_name_that_no_fence_holds_is_refused(name: str) -> None:
    with pytest.raises(StoreCorrupt, match="1 to 64 bytes"):
        parse(dump(changed(servers={**GOOD.servers, name: "mysql://other"})))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"epoch": 0}, "epoch 0"),
        ({"shards": (ShardRange((0, 3), "A"), ShardRange((5, 7), "B"))}, "shards 4 to 4"),
        ({"shards": (ShardRange((0, 4), "A"), ShardRange((4, 7), "B"))}, "not overlap"),
        ({"mod": ModShards(4, (ShardRange((0, 2), "A"),))}, "mod ranges"),
        ({"mod": ModShards(4, (ShardRange((0, 0), "A"), ShardRange((2, 3), "A")))}, "mod 1 to 1"),
        ({"shards": (ShardRange((0, 7), "D"),)}, "no server 'D'"),
        ({"moving": (Moving((0, 3), "D", 3),)}, "no server 'D'"),
        ({"moving": (Moving((6, 8), "A", 3),)}, "not all of these shards are open"),
        ({"moving": (Moving((0, 3), "B", 4),)}, "epoch 4 is not 1 to 3"),
        ({"moving": (Moving((0, 3), "B", 3), Moving((3, 3), "B", 3))}, "overlaps another move"),
    ],
)
def test_wrong_ranges_are_named(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(StoreCorrupt, match=told):
        parse(dump(changed(**fields)))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"epoch": 2}, "went back from 3 to 2"),
        ({"shards": (ShardRange((0, 7), "B"),)}, "same epoch 3.* here 4"),
        (
            {"epoch": 4, "mod": ModShards(8, (ShardRange((0, 7), "A"),))},
            "mod.count was 4 and is 8",
        ),
        ({"epoch": 4, "shards": (ShardRange((0, 5), "A"),)}, "shard 6 is open .* 2 such"),
    ],
)
def test_what_must_not_follow_a_topology_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(StoreCorrupt, match=told):
        check_next(GOOD, changed(**fields))


def test_moved_ranges_and_more_of_them_may_follow() -> None:
    assert not check_next(GOOD, changed())
    assert check_next(GOOD, changed(epoch=4, shards=(ShardRange((0, 9), "B"),)))

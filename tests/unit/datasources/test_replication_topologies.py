"""Operators' changes of a topology."""

import pytest

from datasources.errors import ConfigError
from datasources.replication import topologies
from datasources.topology import ModShards, ShardRange, Topology, check_next, dump, parse


def topology() -> Topology:
    return Topology(
        3,
        {name: f"mysql://{name}:3306" for name in ("a", "b", "c", "d")},
        (ShardRange((0, 7), "a", "b"), ShardRange((8, 15), "c", "d")),
        ModShards(4, (ShardRange((0, 3), "a", "b"),)),
    )


def ranges(changed: Topology) -> list[tuple[int, int, str, str | None]]:
    """After a check that it may follow the first."""
    assert check_next(topology(), parse(dump(changed)))
    assert changed.epoch == 4
    return [(*r.range, r.master, r.slave) for r in changed.shards]


@pytest.mark.parametrize(("text", "span"), [("3-5", (3, 5)), ("7", (7, 7))])
def test_a_range_is_read(text: str, span: tuple[int, int]) -> None:
    assert topologies.span_of(text) == span


@pytest.mark.parametrize("text", ["", "5-3", "a-b", "-1", "1-", "0-65536"])
def test_a_wrong_range_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match=f"range '{text}'"):
        topologies.span_of(text)


def test_a_promoted_slave_has_all_that_its_master_had_and_no_slave() -> None:
    after = topologies.promoted(topology(), "a", "b")
    assert ranges(after) == [(0, 7, "b", None), (8, 15, "c", "d")]
    assert after.mod.ranges == (ShardRange((0, 3), "b", None),)
    assert topologies.lone_master(after, "a") == "b"
    again = topologies.with_slave(after, "b", "a")
    assert topologies.master_over(again, "a") == "b"


def test_only_a_server_without_shards_and_without_a_master_is_removed() -> None:
    spare = topologies.added(topology(), "e", "mysql://e:3306")
    after = topologies.removed(spare, "e")
    assert (after.epoch, after.servers) == (spare.epoch + 1, topology().servers)
    for name, why in (
        ("a", r"a is the master of shards 0-7, mod shards 0-3: move its shards"),
        ("c", r"c is the master of shards 8-15: move"),
        ("d", r"d is the slave of c: `pinway shards detach d` ends that"),
        ("x", r"no server 'x'"),
    ):
        with pytest.raises(ConfigError, match=why):
            topologies.removed(topology(), name)
    with pytest.raises(ConfigError, match="shards are being moved to e: end the move"):
        topologies.removed(topologies.announced(spare, (0, 7), "e"), "e")
    detached = topologies.with_slave(topology(), "c", None)
    assert "d" not in topologies.removed(detached, "d").servers


def test_new_shards_follow_those_that_there_are() -> None:
    after = topologies.opened(topology(), (16, 31), "c", "d")
    assert ranges(after) == [(0, 7, "a", "b"), (8, 31, "c", "d")]
    with pytest.raises(ConfigError, match="begin at 16"):
        topologies.opened(topology(), (17, 31), "c", "d")
    with pytest.raises(ConfigError, match=r"no server 'x'.*it has a, b, c, d"):
        topologies.opened(topology(), (16, 31), "x", None)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 7), [(0, 15, "c", "d")]),
        ((2, 5), [(0, 1, "a", "b"), (2, 5, "c", "d"), (6, 7, "a", "b"), (8, 15, "c", "d")]),
        ((4, 9), [(0, 3, "a", "b"), (4, 15, "c", "d")]),
    ],
)
def test_a_moved_range_is_cut_out_and_joins_its_neighbors(
    span: tuple[int, int], expected: list[tuple[int, int, str, str | None]]
) -> None:
    assert ranges(topologies.moved(topology(), span, "c", "d")) == expected


def test_shards_that_are_not_open_are_not_moved() -> None:
    with pytest.raises(ConfigError, match="not all of these shards are open"):
        topologies.moved(topology(), (12, 16), "a", "b")


def test_a_server_is_added_once() -> None:
    after = topologies.added(topology(), "e", "mysql://e:3306")
    assert after.servers["e"] == "mysql://e:3306"
    assert topologies.slave_of(after, "e") is None
    with pytest.raises(ConfigError, match="'a' is there already, at mysql://a"):
        topologies.added(topology(), "a", "mysql://elsewhere:3306")


def test_a_server_that_is_no_slave_has_no_master() -> None:
    with pytest.raises(ConfigError, match=r"a is the slave of no master.*slaves are b, d"):
        topologies.master_over(topology(), "a")
    with pytest.raises(ConfigError, match="every master other than a has a slave already"):
        topologies.lone_master(topology(), "a")

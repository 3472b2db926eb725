"""The record of a move, and the state of its shards according to the fences on both sides."""

import pytest
from msgspec.structs import replace

from datasources.errors import ConfigError, Damaged
from datasources.replication import moves, topologies
from datasources.replication.moves import Move, State
from datasources.topology import ModShards, Moving, ShardRange, Topology, check_next, dump, parse

MOVE = Move((2, 5), "a", "c")


def topology() -> Topology:
    return Topology(
        3,
        {name: f"mysql://{name}:3306" for name in ("a", "b", "c", "d")},
        (ShardRange((0, 7), "a", "b"), ShardRange((8, 15), "c", "d")),
        ModShards(4, (ShardRange((0, 3), "a", "b"),)),
    )


def owners(text: str) -> dict[int, str | None]:
    """The owners of the shards from 2 on: a letter for each, `-` for a missing fence."""
    return {shard: None if name == "-" else name for shard, name in enumerate(text, 2)}


def test_the_fences_tell_where_each_shard_is() -> None:
    stands = moves.standing(MOVE.shards, "a", "c", owners("aacc"), owners("-aac"))
    assert stands == moves.Standing(left=[2, 3], under_way=[4], handed=[5])


@pytest.mark.parametrize(
    ("at_source", "at_target", "message"),
    [("a", "c", "is open on a and on c"), ("x", "a", "is on x"), ("-", "-", "is on no server")],
)
def test_a_shard_on_both_sides_or_on_neither_is_refused(
    at_source: str, at_target: str, message: str
) -> None:
    with pytest.raises(Damaged, match=message):
        moves.standing([2], "a", "c", owners(at_source), owners(at_target))


def test_a_target_that_was_promoted_still_has_what_was_handed_over() -> None:
    stands = moves.standing([2], "a", "d", owners("c"), owners("d"))
    assert stands.handed == [2]


@pytest.mark.parametrize(
    ("span", "to", "message"),
    [
        ((0, 7), "a", "are on a already"),
        ((0, 7), "d", "d is a slave"),
        ((6, 9), "c", "are on a, c"),
        ((0, 16), "c", "not all of these shards are open"),
        ((0, 3), "e", "has no server"),
    ],
)
def test_a_move_that_makes_no_sense_is_refused(
    span: tuple[int, int], to: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        moves.planned(topology(), span, to)


def test_shards_of_a_move_that_is_not_over_are_in_no_other_move() -> None:
    with pytest.raises(ConfigError, match="shards 2-5 are in a move that is MOVED"):
        moves.check_alone((5, 6), [replace(MOVE, state=State.MOVED)])
    moves.check_alone((5, 6), [replace(MOVE, state=State.CLOSED)])


@pytest.mark.parametrize("server", ["a", "c"])
def test_a_server_of_an_unfinished_move_is_in_use(server: str) -> None:
    with pytest.raises(ConfigError, match="shards 2-5 are in a move that is MOVED"):
        moves.check_unused(server, [replace(MOVE, state=State.MOVED)])
    moves.check_unused(server, [replace(MOVE, state=State.CLOSED)])
    moves.check_unused("b", [MOVE])


def test_a_topology_names_both_servers_until_all_shards_are_handed_over() -> None:
    named, epoch = moves.announced(MOVE, topology())
    assert (named.epoch, epoch, named.moving) == (4, 4, (Moving((2, 5), "c", 4),))
    assert named.shards == topology().shards
    assert moves.announced(MOVE, named) == (named, 4)
    after = moves.settled(MOVE, named)
    assert after.shards == (
        ShardRange((0, 1), "a", "b"),
        ShardRange((2, 5), "c", "d"),
        ShardRange((6, 7), "a", "b"),
        ShardRange((8, 15), "c", "d"),
    )
    assert (after.epoch, after.moving) == (5, ())
    assert moves.settled(MOVE, after) is after
    assert check_next(topology(), named)
    assert check_next(named, parse(dump(after)))


@pytest.mark.parametrize("arrived", [True, False])
def test_the_way_back_has_a_higher_epoch(arrived: bool) -> None:
    named, epoch = moves.announced(MOVE, topology())
    before = moves.settled(MOVE, named) if arrived else named
    back = moves.turned(MOVE, before)
    again, later = moves.announced(back, before)
    assert later == again.epoch > epoch
    entry = again.moving_of(2)
    assert entry is not None
    assert {again.master_of(2), entry.to} == {"a", "c"}
    assert moves.announced(back, again) == (again, later)
    home = moves.settled(back, again)
    assert home.shards == topology().shards
    assert home.moving == ()


def test_a_promotion_renames_the_servers_of_a_move() -> None:
    named, _ = moves.announced(MOVE, topology())
    assert moves.renamed(MOVE, named) == MOVE
    source = topologies.promoted(named, "a", "b")
    assert moves.renamed(MOVE, source) == replace(MOVE, origin="b")
    target = topologies.promoted(named, "c", "d")
    assert moves.renamed(MOVE, target) == replace(MOVE, destination="d")
    arrived = replace(MOVE, state=State.MOVED)
    after = topologies.promoted(moves.settled(MOVE, named), "c", "d")
    assert moves.renamed(arrived, after) == replace(arrived, destination="d")
    back = moves.turned(MOVE, moves.settled(MOVE, named))
    again, _ = moves.announced(back, moves.settled(MOVE, named))
    assert moves.renamed(back, topologies.promoted(again, "c", "d")).source == "d"


def test_a_record_is_read_as_it_was_written() -> None:
    move = replace(MOVE, state=State.ROLLING_BACK, back=True, floor=4, groups=2)
    assert moves.decode(moves.encode(move)) == move
    with pytest.raises(Damaged, match="can't be read"):
        moves.decode(b"{}")


def test_a_dry_run_says_what_is_left_to_do() -> None:
    assert len(moves.intended(MOVE)) == 5
    assert moves.intended(replace(MOVE, back=True, state=State.VERIFIED)) == [
        "shards 2-5 (4) go from c to a",
        "hand them over in 1 group of up to 8 shards",
    ]

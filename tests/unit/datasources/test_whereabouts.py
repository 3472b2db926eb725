"""Shards that are on one of two servers while they move."""

import pytest

from datasources.sql.engine import NotOwned, mod_place, object_place
from datasources.sql.whereabouts import PATIENCE, Search, Whereabouts
from datasources.topology import ModShards, Moving, ShardRange, Topology
from tests.unit.feed_engine.virtual_time import run


def topology(*moving: Moving, epoch: int = 2) -> Topology:
    urls = {"a": "mysql://a:1", "b": "mysql://b:1"}
    mod = ModShards(1, (ShardRange((0, 0), "a"),))
    return Topology(epoch, urls, (ShardRange((0, 7), "a"),), mod, moving)


MOVING = topology(Moving((2, 3), "b", 2))


def refusal(server: str, shard: int) -> NotOwned:
    return NotOwned("", [object_place(server, shard)])


def test_a_search_goes_to_the_other_server_and_back_until_its_time_is_over() -> None:
    async def main() -> None:
        search, place, turns = Search(), object_place("a", 2), 0
        assert search.at(place, MOVING) == place
        while await search.turn(refusal(place.server, 2), MOVING):
            place = search.at(object_place("a", 2), MOVING)
            turns += 1
            assert place.server == ("b" if turns % 2 else "a")
        assert PATIENCE / 0.02 < turns < PATIENCE / 0.009

    run(main())


@pytest.mark.parametrize("place", [object_place("a", 4), mod_place("a", 2)])
def test_shards_that_do_not_move_are_not_searched_for(place: object) -> None:
    async def main() -> None:
        assert not await Search().turn(NotOwned("", [place]), MOVING)  # type: ignore[list-item]

    run(main())


def test_what_a_search_found_is_forgotten_when_the_move_is_over() -> None:
    found = Whereabouts()
    found.learn({2: "b", 4: "b"}, MOVING)
    assert [found.server_of(shard, MOVING) for shard in (2, 3, 4)] == ["b", "a", "a"]
    found.use(topology(Moving((2, 3), "b", 3), epoch=3))
    assert found.server_of(2, MOVING) == "b"
    found.use(topology(epoch=4))
    assert found.server_of(2, MOVING) == "a"

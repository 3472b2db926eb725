"""The memcached server of each key and its entry's name, while the list of servers changes."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from datasources.cache_lists import MOST_LEFT, CacheList, first_list, next_list
from datasources.memcached.placement import Placement

IDS = range(3000)


def servers(*names: str) -> dict[int, str]:
    """The server of each key."""
    placement = Placement(first_list(names))
    return {id: placement.place(id)[0] for id in IDS}


def lists(*steps: Sequence[str]) -> list[CacheList]:
    found = [first_list(steps[0])]
    for addresses in steps[1:]:
        found.append(next_list(found[-1], addresses))
    return found


def test_every_key_has_one_server_and_all_servers_have_a_fair_share() -> None:
    placed = servers("a:1", "b:1", "c:1")
    assert all(800 < count < 1200 for count in Counter(placed.values()).values())


def test_the_order_of_the_servers_does_not_matter() -> None:
    assert servers("a:1", "b:1", "c:1") == servers("c:1", "a:1", "b:1")


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_an_added_server_gets_its_share_and_no_other_key_moves(count: int) -> None:
    names = [f"server{n}:11211" for n in range(count + 1)]
    before, after = servers(*names[:-1]), servers(*names)
    moved = {id for id in IDS if before[id] != after[id]}
    assert {after[id] for id in moved} == {names[-1]}
    assert len(moved) == pytest.approx(len(IDS) / (count + 1), rel=0.2)


def test_a_server_that_goes_moves_its_own_keys_only() -> None:
    before, after = servers("a:1", "b:1", "c:1"), servers("a:1", "b:1")
    assert all(after[id] == name for id, name in before.items() if name != "c:1")


def test_the_entries_of_the_first_list_have_the_names_that_they_always_had() -> None:
    assert Placement(first_list(["a:1", "b:1"])).place(7)[1] == b"pinway:7"
    assert Placement(first_list(["a:1"])).place(-7)[1] == b"pinway:-7"


def test_a_key_that_comes_back_to_a_server_has_another_name_there() -> None:
    placements = [Placement(it) for it in lists(["a:1"], ["b:1"], ["a:1"], ["a:1", "b:1"])]
    assert [it.place(7) for it in placements[:3]] == [
        ("a:1", b"pinway:7"),
        ("b:1", b"pinway:7@2"),
        ("a:1", b"pinway:7@3"),
    ]
    for id in IDS:
        last, before = placements[3].place(id), placements[2].place(id)
        assert last == (before if last[0] == "a:1" else ("b:1", b"pinway:%d@4" % id))


@pytest.mark.parametrize("seed", range(30))
def test_an_entry_is_found_again_only_if_its_key_has_not_moved_since(seed: int) -> None:
    """Compared with the servers of each key in all lists so far."""
    chooser = random.Random(seed)
    names = [f"server{n}:11211" for n in range(6)]
    current = first_list(chooser.sample(names, chooser.randint(1, 5)))
    placements = [Placement(current)]
    for _ in range(12):
        current = next_list(current, chooser.sample(names, chooser.randint(1, 5)))
        placements.append(Placement(current))
        assert len(current.left) <= MOST_LEFT
    for id in range(100):
        places = [placement.place(id) for placement in placements]
        for n, place in enumerate(places):
            for m in range(n):
                stayed = all(places[i][0] == place[0] for i in range(m, n + 1))
                assert (places[m] == place) == stayed


def test_a_list_remembers_a_bounded_number_of_servers_and_is_still_safe() -> None:
    current = first_list(["stays:1", "old0:1"])
    seen = {id: {Placement(current).place(id)} for id in range(300)}
    at = {id: Placement(current).place(id) for id in range(300)}
    for n in range(3 * MOST_LEFT):
        current = next_list(current, ["stays:1", f"old{n + 1}:1"])
        assert len(current.left) <= MOST_LEFT
        placement = Placement(current)
        for id, before in at.items():
            place = placement.place(id)
            if place != before:  # it moved, or its server began with new names
                assert place not in seen[id]
            seen[id].add(place)
            at[id] = place


def test_servers_that_nobody_needs_to_know_are_forgotten() -> None:
    """No server of the last list was there together with `a:1` or `b:1`."""
    [_, _, _, last] = lists(["a:1", "b:1"], ["b:1", "c:1"], ["c:1", "d:1"], ["d:1", "e:1"])
    assert last.left == {"c:1": 3}

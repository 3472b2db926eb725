"""Keys of users whose follower is killed at each of its writes: a key that is free goes to a row
that has it in the source."""

import itertools
from pathlib import Path
from random import Random

import pytest

from datasources.protocols import Stores
from datasources.records import User
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import KINDS, USERNAME, KeyKind
from feed_engine.writes.keys import MOST
from tests.embedded_stores import stores, valkey
from tests.migration.member_world import Member, MemberWorld
from tests.scale import scaled, seeds

__all__ = ["stores", "valkey"]
pytestmark = pytest.mark.anyio
SEAMS, PAIRS = scaled(7, 1), scaled(29, 1)
"""Distances between the seams that are taken: for a schedule's only kill, and for two kills."""
TAKEN = "taken"
"""A user name that a user of another migration has."""
COMES_BACK = "a row is deleted, and comes back under a name that it can't have"
_NUMBERS = itertools.count()
State = dict[int, str]
"""Id → the row's user name, e-mail address and subject; "-" for none."""
SCHEDULES: dict[str, list[State]] = {
    "a row is deleted": [{1: "ann m s", 2: "bob m s"}, {2: "bob m s"}, {2: "bob m s"}],
    COMES_BACK: [
        {1: "ann m s", 2: "bob m s"},
        {2: "bob m s"},
        {1: "taken m s", 2: "bob m s"},
    ],
    "a row is deleted, and comes back with a name that is no name": [
        {1: "ann m s", 2: "bob m s"},
        {2: "bob m s"},
        {1: "? m s", 2: "bob m s"},
    ],
    "keys change": [
        {1: "ann m s", 2: "bob m s"},
        {1: "ann n t", 2: "bob m s"},
        {1: "ann o -", 2: "bob m s"},
    ],
    "keys become NULL": [
        {1: "ann m s", 2: "bob m s"},
        {1: "ann - -", 2: "bob m s"},
        {1: "ann - -", 2: "bob m s"},
    ],
    "keys change and come back": [
        {1: "ann m s", 2: "bob m s"},
        {1: "ann n t", 2: "bob m s"},
        {1: "ann m s", 2: "bob m s"},
    ],
    "two rows swap their keys": [
        {1: "ann m s", 2: "bob n t", 3: "cat m t"},
        {1: "bob n t", 2: "ann m s", 3: "cat m t"},
        {1: "bob n t", 2: "ann m s", 3: "cat m t"},
    ],
    "two rows swap their keys, and one of them goes": [
        {1: "ann m s", 2: "bob n t", 3: "cat m t"},
        {1: "bob n t", 2: "ann m s", 3: "cat m t"},
        {2: "ann m s", 3: "cat m t"},
    ],
    "a row has keys only between two kills": [
        {1: "ann - -", 2: "bob - -"},
        {1: "new m s", 2: "bob - -"},
        {1: "ann n t", 2: "new m s"},
        {1: "? m s", 2: "new m s"},
    ],
    "a new row has keys only between two kills": [
        {2: "bob - -"},
        {1: "new m s", 2: "bob - -"},
        {1: "ann n t", 2: "new m s"},
        {1: "ann m s", 2: "new m s"},
    ],
    "a row that stands is renamed to a name that it can't have": [
        {1: "ann m s", 2: "bob m s"},
        {1: "taken n t", 2: "bob m s"},
        {1: "taken - -", 2: "bob m s", 3: "ann n t"},
    ],
}


class Followed:
    """A world with states of its own."""

    def __init__(self, stores: Stores, folder: Path) -> None:
        self._number, self._stores = next(_NUMBERS), stores
        self.world = MemberWorld(stores, folder / f"{self._number}", f"world-{self._number}")

    def change(self, state: State) -> None:
        """Let the source be in this state."""
        self.world.change({id: self._member(*row.split()) for id, row in state.items()})

    def _member(self, name: str, mail: str, google: str) -> Member:
        of = f"{self._number}"
        return Member(
            name if name in (TAKEN, "?") else f"{name}.{of}",
            f"{mail}@{of}.example" if mail != "-" else "",
            f"{google}.{of}" if google != "-" else "",
        )

    async def check(self) -> None:
        """Check that each row has a user with its keys, except keys that another user has, and that
        no key is held for nobody."""
        users = await self.world.users()
        for id, member in self.world.source.members.items():
            user = users.get(id)
            if member.login == "?":
                assert user is None
                continue
            for kind in KINDS.values() if user is not None else [USERNAME]:
                wanted = member.key(kind)
                if user is None or kind.key_of(user) != wanted:
                    assert kind is USERNAME or user is None or not kind.key_of(user)
                    await self._check_taken(kind, wanted)
        differing = (await self.world.verified()).differences
        assert all(one.source == f'"{TAKEN}"' for one in differing), differing

    async def _check_taken(self, kind: KeyKind, key: str) -> None:
        if key:
            held = await self._stores.shards.mod.find(kind.namespace, [key])
            assert held, f"nobody has {key}"
            [holder] = (await access.read(self._stores, User, [*held.values()])).values()
            assert kind.key_of(holder) == key, f"{key} is held for nobody"

    async def end(self) -> None:
        """End the world: all its keys are free."""
        self.change({})
        await self.world.follow()
        assert not await self.world.users()
        self.world.close()


@pytest.fixture(scope="module", autouse=True)
async def taken(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> None:
    world = MemberWorld(stores, tmp_path_factory.mktemp("taken") / "world", "other")
    world.change({1: Member(TAKEN)})
    await world.follow()
    world.close()


@pytest.mark.parametrize("name", SCHEDULES)
async def test_free_keys_go_to_rows_that_wait_for_them_after_kills_at_each_seam(
    stores: Stores, tmp_path: Path, name: str
) -> None:
    first, *states, last = SCHEDULES[name]
    step = PAIRS if len(states) > 1 else SEAMS
    seams = [range(1, count + 1, step) for count in await _seams(stores, tmp_path, name)]
    for kills in itertools.product(*seams):
        followed = Followed(stores, tmp_path)
        followed.change(first)
        await followed.world.follow()
        for state, kill in zip(states, kills, strict=True):
            followed.change(state)
            await followed.world.follow(kill)
        followed.change(last)
        await followed.world.follow()
        await followed.check()
        await followed.end()


async def _seams(stores: Stores, folder: Path, name: str) -> list[int]:
    """The number of seams of each state of a schedule except the first and the last, after states
    without kills."""
    followed, found = Followed(stores, folder), []
    for state in SCHEDULES[name]:
        followed.change(state)
        found.append(await followed.world.follow())
    await followed.check()
    await followed.end()
    return found[1:-1]


async def test_a_user_has_the_present_keys_after_more_kills_than_keys_may_be_kept(
    stores: Stores, tmp_path: Path
) -> None:
    for kill in range(4, 16, 2):
        followed = Followed(stores, tmp_path)
        followed.change({1: "ann - -"})
        await followed.world.follow()
        for number in range(MOST + 1):
            followed.change({1: f"ann{number} m{number} s{number}"})
            await followed.world.follow(kill)
        followed.change({1: "ann m s"})
        await followed.world.follow()
        await followed.check()
        await followed.end()


async def test_keys_that_a_killed_follower_of_an_earlier_version_freed_go_to_rows_that_wait(
    stores: Stores, tmp_path: Path
) -> None:
    first, second, last = SCHEDULES[COMES_BACK]
    for kill in range(1, 34, 3):
        followed = Followed(stores, tmp_path)
        followed.change(first)
        await followed.world.follow()
        followed.change(second)
        await followed.world.follow(kill)
        followed.world.as_earlier_version()
        followed.change(last)
        await followed.world.follow()
        await followed.check()
        await followed.end()


@pytest.mark.parametrize("run", seeds(3, 300))
async def test_free_keys_go_to_rows_that_wait_for_them_after_random_changes_and_kills(
    stores: Stores, tmp_path: Path, run: int
) -> None:
    random, followed = Random(run), Followed(stores, tmp_path)
    for _ in range(6):
        followed.change(_random_state(random))
        await followed.world.follow(random.choice((0, *range(1, 80))))
    await followed.world.follow()
    await followed.check()
    await followed.end()


def _random_state(random: Random) -> State:
    """Two to four rows, with user names that no two rows have, and keys that some share."""
    names = random.sample(("ann", "bob", "cat", "dan", "?"), 4)
    ids = random.sample(range(1, 5), random.randrange(2, 5))
    return {
        id: f"{name} {random.choice('mn-')} {random.choice('st-')}"
        for id, name in zip(ids, names, strict=False)
    }

"""The change of the list of memcached servers: its steps, also when it is killed between them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from datasources.cache_lists import CacheLists, addresses_of, first_list, next_list
from datasources.errors import ConfigError, StoreConflict, StoreCorrupt, StoreUnavailable
from datasources.file import FileTopology
from datasources.topology import ModShards, ShardRange, Topology, check_next, dump, parse
from gateway.cli.cache import cache
from gateway.operate import doctor
from gateway.operate.cache_servers import BEGUN, Change, check, shown, step_of
from gateway.settings import changed, read_settings
from tests.contract.shards import with_epoch

pytestmark = pytest.mark.anyio
OLD, NEW = ["a:1", "b:1"], ["b:1", "c:1"]
TOPOLOGY = Topology(
    1,
    {"one": "sqlite:///one"},
    (ShardRange((0, 0), "one"),),
    ModShards(1, (ShardRange((0, 0), "one"),)),
)


class Killed(Exception):
    """The command was killed."""


@dataclass
class World:
    """A topology, its fences' epoch and the lowest list that may be read. The command is killed
    before the effect number `lives`, or after it if it is `late`."""

    source: FileTopology
    away: set[str] = field(default_factory=set)
    same: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    fences: int = 0
    lowest: int = 1
    lives: int = 1000
    late: bool = False
    told: list[str] = field(default_factory=list)
    seen: list[tuple[CacheLists | None, int, int]] = field(default_factory=list)

    async def change(self, addresses: Sequence[str], *, force: bool = False) -> None:
        await self._command().run(addresses, force=force)

    async def rollback(self) -> None:
        await self._command().rollback()

    def _command(self) -> Change:
        return Change(
            source=self,
            settings=OLD,
            followed=self.followed,
            reach=self.reach,
            raise_fences=self.raise_fences,
            end_lists=self.end_lists,
            tell=self.told.append,
        )

    async def load(self) -> Topology:
        return await self.source.load()

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        self._live()
        await self.source.save(topology, expected_epoch=expected_epoch)
        await self._done()

    async def followed(self) -> set[str]:
        return self.used

    async def reach(self, address: str) -> str:
        if address in self.away:
            raise StoreUnavailable(f"object cache {address}: refused")
        return self.same.get(address, address)

    async def raise_fences(self, topology: Topology) -> None:
        self._live()
        self.fences = max(self.fences, topology.epoch)
        await self._done()

    async def end_lists(self, before: int) -> None:
        self._live()
        self.lowest = max(self.lowest, before)
        await self._done()

    def _live(self) -> None:
        self.lives -= 1
        if self.lives == 0 and not self.late:
            raise Killed

    async def _done(self) -> None:
        lists = (await self.load()).caches
        self.seen.append((lists, self.fences, self.lowest))
        if self.lives == 0:
            raise Killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


@pytest.fixture
async def world(tmp_path: Path) -> World:
    source = FileTopology(tmp_path / "topology.json")
    await source.save(TOPOLOGY, expected_epoch=None)
    return World(source)


def check_safe(world: World) -> None:
    """No state allows a read that misses a removal."""
    begun_at: int | None = None
    for lists, fences, lowest in world.seen:
        if lists is None:
            continue
        if lists.other is not None and lists.other.number > lists.read.number:
            begun_at = begun_at or 2  # the epoch of the first step: the topology began with 1
        elif lists.other is not None:
            assert begun_at is not None
            assert fences >= begun_at  # writers know both lists before one reads the new one
        else:
            assert lowest == lists.read.number  # no reader has an earlier list


async def test_a_change_has_three_steps_and_a_repetition_does_nothing(world: World) -> None:
    await world.change(NEW)
    check_safe(world)
    topology = await world.load()
    assert topology.epoch == 4
    assert topology.caches == CacheLists(next_list(first_list(OLD), NEW))
    assert world.fences == 2
    assert world.lowest == 2
    await world.change(list(reversed(NEW)))
    assert world.told[-1] == "these are the servers already: nothing was changed"
    assert (await world.load()) == topology


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("lives", range(1, 6))
async def test_a_change_that_is_killed_goes_on(world: World, lives: int, late: bool) -> None:
    world.lives, world.late = lives, late
    with pytest.raises(Killed):
        await world.change(NEW)
    left = (await world.load()).caches
    world.lives = 1000
    if left is not None and left.other is not None:
        step = re.escape(step_of(left) or "")
        told = rf"from a:1,b:1 to b:1,c:1 has {step}: end it with `pinway cache servers b:1,c:1`"
        with pytest.raises(ConfigError, match=rf"{told}, .*; nothing was changed") as refused:
            await world.change(["d:1"])
        assert ("`pinway cache rollback`" in str(refused.value)) == (step == BEGUN)
        assert (await world.load()).caches == left
    await world.change(NEW)
    check_safe(world)
    found = (await world.load()).caches
    assert found == CacheLists(next_list(first_list(OLD), NEW))
    assert world.fences >= 2
    assert world.lowest == 2


@pytest.mark.parametrize("late", [False, True])
async def test_a_change_that_has_begun_is_taken_back_also_when_that_is_killed(
    world: World, late: bool
) -> None:
    world.lives = 3
    with pytest.raises(Killed):
        await world.change(NEW)
    world.lives, world.late = 1, late
    with pytest.raises(Killed):
        await world.rollback()
    world.lives = 1000
    await world.rollback()
    check_safe(world)
    back = await world.load()
    assert back.caches == CacheLists(first_list(OLD))
    await world.rollback()
    assert world.told[-1] == "no change goes on: nothing was changed"
    assert await world.load() == back
    await world.change(["d:1"])
    check_safe(world)
    assert (await world.load()).caches == CacheLists(next_list(first_list(OLD), ["d:1"]))
    assert world.fences == back.epoch + 1  # of the change that came later


async def test_a_command_that_was_stopped_can_not_turn_a_change_that_was_taken_back(
    world: World,
) -> None:
    """A later change, which has the same number, is not turned by it either."""

    class Stopped(World):
        async def raise_fences(self, topology: Topology) -> None:
            await world.rollback()
            world.lives = 2
            with pytest.raises(Killed):
                await world.change(["d:1"])

    with pytest.raises(StoreConflict):
        await Stopped(world.source).change(NEW)
    left = (await world.load()).caches
    assert left is not None
    assert (step_of(left), list(left.wanted.servers)) == (BEGUN, ["d:1"])


async def test_a_change_that_has_turned_is_not_taken_back(world: World) -> None:
    world.lives = 4
    with pytest.raises(Killed):
        await world.change(NEW)
    world.lives, left = 1000, await world.load()
    told = (
        "gateways read by list 2 already: end the change with `pinway cache servers b:1,c:1`, then "
        "change back with `pinway cache servers a:1,b:1`; nothing was changed"
    )
    with pytest.raises(ConfigError, match=re.escape(told)):
        await world.rollback()
    assert await world.load() == left
    await world.change(NEW)
    await world.change(OLD)
    check_safe(world)
    assert world.lowest == 3


async def test_the_told_commands_have_ipv6_addresses_in_brackets(world: World) -> None:
    wanted = addresses_of("[::1]:1,b:1")
    world.lives = 2
    with pytest.raises(Killed):
        await world.change(wanted)
    with pytest.raises(ConfigError, match=re.escape("`pinway cache servers [::1]:1,b:1`")):
        await world.change(OLD)
    world.lives = 1000
    await world.change(addresses_of("[::1]:1,b:1"))
    assert world.told[-1] == "3 of 3: list 2 alone is in use"


async def test_a_server_that_does_not_answer_is_refused_unless_it_is_forced(world: World) -> None:
    world.away = {"a:1", "c:1"}  # the server that leaves need not answer
    with pytest.raises(ConfigError, match=r"c:1: refused; nothing was changed.*--force"):
        await world.change(NEW)
    assert await world.load() == TOPOLOGY
    await world.change(NEW, force=True)
    assert (await world.load()).epoch == 4


async def test_settings_that_name_other_servers_than_gateways_use_are_refused(world: World) -> None:
    """Before the first change, the settings alone name the list that gateways read by."""
    world.used = {"a:1", "c:1"}
    told = (
        "the setting stores.object_cache names b:1, which no gateway has used; gateways have used "
        "a:1,c:1. Before the first change, name the servers that gateways use now; nothing was"
    )
    for wanted in (NEW, OLD):
        with pytest.raises(ConfigError, match=re.escape(told)):
            await world.change(wanted)
    assert await world.load() == TOPOLOGY
    world.used = {"a:1", "b:1", "left:1"}
    await world.change(NEW)
    world.used = {"left:1"}
    await world.change(OLD)  # the topology has the list now


async def test_a_server_with_two_names_is_refused(world: World) -> None:
    world.same = {"other:1": "b:1"}
    told = "b:1 and other:1 are one server: name it once; nothing was changed"
    with pytest.raises(ConfigError, match=told):
        await world.change(["b:1", "other:1"], force=True)
    assert await world.load() == TOPOLOGY
    await world.change(["a:1", "other:1"])  # another name in place of the first


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'': '' must be host:port"),
        ("a:1,", "'a:1,': '' must be host:port"),
        ("a:1,a:1", "'a:1,a:1': a:1 is there twice"),
        ("::1:1", "an IPv6 address needs brackets"),
        ("a", "'a' must be host:port"),
        ("a:1/x", "it must end after the last port"),
    ],
)
def test_a_list_that_names_no_servers_is_refused(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told) + ".*; nothing was changed"):
        addresses_of(text)


async def test_forty_servers_replace_two(world: World) -> None:
    wanted = addresses_of(",".join(f"host{n}:11211" for n in range(40)))
    await world.change(wanted)
    check_safe(world)
    found = (await world.load()).caches
    assert found is not None
    assert sorted(found.read.servers) == sorted(wanted)


async def test_another_change_of_the_topology_at_the_same_time_is_no_loss(world: World) -> None:
    class Slow(World):
        async def raise_fences(self, topology: Topology) -> None:
            later = with_epoch(await self.load(), topology.epoch + 1)
            await self.source.save(later, expected_epoch=topology.epoch)

    slow = Slow(world.source)
    with pytest.raises(StoreConflict, match="epoch 3, not 2: somebody else changed the topology"):
        await slow.change(NEW)
    assert slow.told[-1] == "the change has not ended: run the command again, with the same list"
    await world.change(NEW)
    assert world.fences == 3


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "names no memcached servers"),
        ({"stores.object_cache": "memcached://a:1"}, "the topology in ZooKeeper alone"),
        (
            {
                "stores.object_cache": "memcached://a:1",
                "stores.topology": "zookeeper://a:2181/pinway/topology",
                "stores.cache_generations": False,
            },
            "cache_generations = true alone",
        ),
    ],
)
def test_settings_without_reader_leases_are_refused(changes: dict[str, Any], told: str) -> None:
    settings = changed(read_settings(None, {}), changes)
    with pytest.raises(ConfigError, match=told):
        check(settings)


async def test_the_state_tells_the_step_and_both_lists(world: World) -> None:
    settings = changed(read_settings(None, {}), {"stores.object_cache": "memcached://a:1,b:1"})
    assert shown(TOPOLOGY, settings)["from"] == "settings"
    world.lives = 3
    with pytest.raises(Killed):
        await world.change(NEW)
    found = shown(await world.load(), settings)
    assert (found["list"], found["step"], found["other"]["list"]) == (1, "begun", 2)
    world.lives = 3
    with pytest.raises(Killed):
        await world.change(NEW)
    found = shown(await world.load(), settings)
    assert (found["list"], found["step"], found["servers"]) == (2, "turned", NEW)


async def test_doctor_tells_of_a_change_that_was_interrupted_and_of_other_settings(
    world: World,
) -> None:
    async def finding(object_cache: str) -> tuple[str, str, str]:
        settings = changed(read_settings(None, {}), {"stores.object_cache": object_cache})
        topology = await world.load()
        objects = SimpleNamespace(topology=lambda: topology)
        stores: Any = SimpleNamespace(shards=SimpleNamespace(objects=objects))
        [(_, state, told, advice)] = doctor.cache_list(settings, stores)
        return state, told, advice

    world.lives = 2
    with pytest.raises(Killed):
        await world.change(NEW)
    state, told, advice = await finding("memcached://a:1,b:1")
    assert (state, told.endswith("a change to b:1,c:1 has begun")) == ("warning", True)
    assert advice == (
        "if no command runs, end it with `pinway cache servers b:1,c:1`, or take it back with "
        "`pinway cache rollback`"
    )
    world.lives = 1000
    await world.change(NEW)
    state, told, advice = await finding("memcached://a:1,b:1")
    assert (state, advice) == ("warning", "set stores.object_cache = memcached://b:1,c:1")
    state, told, _ = await finding("memcached://c:1,b:1")
    assert (state, told) == ("ok", "list 2 of epoch 4: b:1,c:1")
    assert (await finding("memory://?max_bytes=1"))[0] == "fault"


async def test_a_topology_whose_lists_no_change_makes_is_refused(world: World) -> None:
    await world.change(NEW)
    good = await world.load()
    assert parse(dump(good)) == good
    for bad, told in (
        (b'"caches": {"read": {"number": 0, "servers": {"a:1": 1}}}', "numbers must be"),
        (b'"caches": {"read": {"number": 1, "servers": {}}}', "no servers"),
        (b'"caches": {"read": {"number": 1, "servers": {"a": 1}}}', "must be host:port"),
        (b'"caches": {"read": {"number": 1, "servers": {"a:1": 2}}}', "numbers must be"),
    ):
        text = dump(TOPOLOGY).rstrip().removesuffix(b"}") + b"," + bad + b"}"
        with pytest.raises(StoreCorrupt, match=told):
            parse(text)
    with pytest.raises(StoreCorrupt, match="went back"):
        check_next(good, with_epoch(TOPOLOGY, 9))


def test_show_names_no_other_command_on_embedded_shards(tmp_path: Path) -> None:
    config = tmp_path / "pinway.toml"
    config.write_text('[stores]\nobject_cache = "memcached://a:1"\n')
    shown = CliRunner().invoke(cache, ["show", "--config", str(config)])
    assert str(shown.exception) == (
        "the settings name embedded shards: this command is for MariaDB servers, whose settings "
        "--config names"
    )

"""The advice for a shard master that is away, for its slave, and for a master without a slave."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from datasources.errors import StoreTimeout
from datasources.protocols import Stores
from datasources.topology import ModShards, ShardRange, Topology
from gateway.observe.health import readiness
from gateway.observe.state import State, StateCollector
from gateway.operate import doctor

pytestmark = pytest.mark.anyio

TOPOLOGY = Topology(
    epoch=1,
    servers={name: f"mysql://{name}:3306" for name in ("A", "B", "C")},
    shards=(ShardRange((0, 7), "A", "B"), ShardRange((8, 15), "C", None)),
    mod=ModShards(8, (ShardRange((0, 7), "A", "B"),)),
)


class Shards:
    """Servers of which A does not answer, so that its slave B does not replicate."""

    objects = SimpleNamespace(topology=lambda: TOPOLOGY)

    def __init__(self, away: str | None) -> None:
        self._away = away
        self.lags: dict[str, float | None] = {"B": None}

    async def ping(self) -> dict[str, str | None]:
        return {"A": self._away, "C": None}

    async def replication(self) -> dict[str, float | None]:
        return self.lags

    async def setting_faults(self) -> dict[str, list[str] | None]:
        return {}


class Well:
    """Any other store."""

    fault = None

    async def ping(self) -> None:
        pass


def stores(away: str | None, mapping_cache: Well | None = None) -> Stores:
    well, sides = Well(), SimpleNamespace(primary=Well(), standby=Well())
    parts: dict[str, Any] = {"pools": sides, "feeds": sides, "shards": Shards(away)}
    parts["mapping_cache"], parts["generations"] = mapping_cache or well, None
    names = ("object_cache", "queue", "topology")
    return cast(Stores, SimpleNamespace(**parts, **dict.fromkeys(names, well)))


class LateOnce(Well):
    """A cache whose first answer comes too late."""

    def __init__(self) -> None:
        self.pings = 0

    async def ping(self) -> None:
        self.pings += 1
        if self.pings == 1:
            raise StoreTimeout("no answer within 0.25 s")


async def test_a_fault_is_told_only_if_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BETWEEN", 0.0)
    found = await doctor._states(stores(None, LateOnce()))
    assert {f.state for f in found if f.check == "mapping_cache"} == {doctor.OK}
    away = {f.check: f for f in await doctor._states(stores("A: Connection refused"))}
    assert away["shards A"].state == doctor.FAULT


async def test_the_advice_for_a_slave_whose_master_is_away_is_to_promote_it() -> None:
    found = {f.check: f for f in await doctor._replication(stores("A: Connection refused"))}
    slave = found["replication B"]
    assert (slave.state, slave.detail) == (doctor.FAULT, "its master A is away")
    assert slave.advice == "start A, or take its place: `pinway shards promote B`"


async def test_the_advice_for_a_slave_that_stopped_is_to_attach_it() -> None:
    found = {f.check: f for f in await doctor._replication(stores(None))}
    assert found["replication B"].advice.endswith("`pinway shards attach B --to A`")


async def test_a_master_without_a_slave_is_a_warning() -> None:
    found = {f.check: f for f in await doctor._replication(stores(None))}
    lone = found["replication C"]
    assert (lone.state, lone.detail) == (
        doctor.WARNING,
        "it has no slave: its writes are on one server alone",
    )
    assert lone.advice == "give it one: `pinway shards attach SERVER --to C`"


async def test_a_slave_that_does_not_answer_is_listed_with_the_writes_that_wait_for_it() -> None:
    shown = stores(None)
    cast(Shards, shown.shards).lags = {}
    found = (await readiness(shown))["stores"]
    assert found["slave B"] == {
        "state": "it does not answer",
        "costs": "writes to A wait for it and answer TIMEOUT, until it is back or "
        "`pinway shards detach B`; reads go on",
    }
    cast(Shards, shown.shards).lags = {"B": 0.1}
    assert (await readiness(shown))["stores"]["slave B"] == {"state": "well"}


async def test_a_slave_that_does_not_answer_does_not_replicate_in_the_metrics() -> None:
    shown = stores(None)
    cast(Shards, shown.shards).lags = {}
    state = State(at=1.0, stores=(await readiness(shown))["stores"])
    samples = {
        sample.labels["server"]: sample.value
        for metric in StateCollector(state).collect()
        if metric.name == "pinway_replication_running"
        for sample in metric.samples
    }
    assert samples == {"B": 0.0}


async def test_a_lost_master_with_a_slave_costs_writes_alone() -> None:
    found = (await readiness(stores("A: Connection refused")))["stores"]
    assert found["shards A"]["costs"] == (
        "writes to shards 0 to 7 and mod shards (names) 0 to 7 fail, reads go to the slave B; "
        "all other shards go on"
    )

"""Decides when a master is dead, and whether a watch may promote its slave automatically.

An observer is one process of `pinway shards watch`. It calls a master silent if the master does not
answer and the lease that its slave has received does not change. So a master that hangs is silent,
and a master that only the observer can't reach is not. Observers report silent masters to each
other through ZooKeeper; a promotion needs a quorum of observers.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, TypeVar

import msgspec

from datasources.errors import Damaged
from datasources.topology import Topology

T = TypeVar("T")


class Pair(NamedTuple):
    """A master and the slave that can take its place, by name."""

    master: str
    slave: str

    @property
    def id(self) -> str:
        """The name of the pair's record. It stays the same after a promotion."""
        return "watch_" + "_".join(sorted(self))


class Sight(NamedTuple):
    """One observer's view of a pair."""

    answers: bool  # whether the master answered
    lease: str | None  # the lease on the slave; None if the slave did not answer


class Report(msgspec.Struct, frozen=True):
    """The silent masters that an observer sees: for each name, the last lease that the slave
    received. The lease identifies the outage: it is the same for all observers, and it changes if
    the master was back in between."""

    silent: dict[str, str]


class Outcome(StrEnum):
    BEGUN = "begun"
    DONE = "done"
    REFUSED = "refused"


class Record(msgspec.Struct, frozen=True):
    """The last promotion of a pair by a watch."""

    old: str
    new: str
    cause: str  # the old master's last lease
    at: float  # epoch s
    outcome: Outcome = Outcome.BEGUN
    told: str = ""  # why the promotion was refused


class Rules(NamedTuple):
    """The conditions for a promotion. With `quorum` 2, `after` 10 and `cool_down` 600: two
    observers have found a master silent for 10 s, and the pair was not promoted in the last ten
    minutes."""

    promotes: bool = False
    quorum: int = 2
    after: float = 10.0  # seconds
    cool_down: float = 600.0  # seconds


class Silence:
    """The time for which one observer has found a pair's master silent."""

    def __init__(self) -> None:
        self._lease: str | None = None
        self._since: float | None = None

    def seen(self, sight: Sight, now: float) -> float:
        """The seconds of silence up to `now` (in seconds, on a clock that never goes back)."""
        if sight.answers or sight.lease is None:
            self._since = None
        elif self._since is None or sight.lease != self._lease:
            self._lease, self._since = sight.lease, now
        return 0.0 if self._since is None else now - self._since


class Decision(NamedTuple):
    """Whether to promote now; if not, `told` says why."""

    promote: bool
    told: str = ""


def pairs(topology: Topology) -> list[Pair]:
    """The pairs whose slave could be promoted."""
    ranges = (*topology.shards, *topology.mod.ranges)
    slaves: dict[str, set[str | None]] = {}
    for r in ranges:
        slaves.setdefault(r.master, set()).add(r.slave)
    return sorted(
        Pair(master, slave)
        for master, found in slaves.items()
        for slave in found
        if slave is not None and len(found) == 1
    )


def decided(
    rules: Rules,
    pair: Pair,
    cause: str,
    reports: Iterable[Report],
    record: Record | None,
    now: float,
) -> Decision:
    """The decision about a master that this observer finds silent. `reports` are the reports of all
    observers; `now` is in epoch s."""
    if record is not None and continues(record, pair):
        return Decision(rules.promotes, "a promotion was begun, and is not finished")
    found = list(reports)
    agreed = sum(report.silent.get(pair.master) == cause for report in found)
    told = f"{agreed} of {len(found)} observers say so"
    if agreed < rules.quorum or 2 * agreed <= len(found):
        return Decision(False, f"{told}; {rules.quorum} are needed, and more than half")
    if record is not None and record.cause == cause:
        return Decision(False, f"its promotion was {record.outcome}: {record.told}")
    if not rules.promotes:
        return Decision(False, f"{told}; run `pinway shards promote {pair.slave}`")
    if record is not None and record.outcome is Outcome.DONE and now < record.at + rules.cool_down:
        return Decision(
            False, f"{record.new} was promoted less than {rules.cool_down:.0f} s ago (--cool-down)"
        )
    return Decision(True, told)


def continues(record: Record, pair: Pair) -> bool:
    """Whether a record shows an unfinished promotion of this pair."""
    return record.outcome is Outcome.BEGUN and Pair(record.old, record.new) == pair


def encode(entry: Report | Record) -> bytes:
    return msgspec.json.encode(entry)


def report_of(data: bytes) -> Report:
    return _decoded(data, Report)


def record_of(data: bytes) -> Record:
    return _decoded(data, Record)


def _decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise Damaged(f"what a watch wrote can't be read: {error}") from error

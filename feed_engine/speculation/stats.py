"""The counters of a race, for metrics."""

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """The two sides of a feed store."""

    PRIMARY = "primary"
    STANDBY = "standby"


@dataclass(slots=True)
class Stats:
    """Counts since the start, apart from the gauges at the end."""

    calls: int = 0
    primary_answers: int = 0
    standby_answers: int = 0
    failed: int = 0  # calls that ended without an answer
    late: int = 0  # calls whose first side had not answered at the cutoff
    primary_failures: int = 0  # a store's errors, whatever became of the call
    standby_failures: int = 0
    hedges: int = 0  # second sides asked
    refused: int = 0  # and not asked, for want of budget
    run_ons: int = 0  # losers that ran on, to be measured
    warm: int = 0
    probes: int = 0  # shadow calls to a side that is left
    shed: int = 0  # warm calls not made, for want of budget or room, and probes, for want of room
    compared: int = 0  # warm calls whose answer was compared
    differing: int = 0  # and was not the primary's
    caught_up: int = 0  # differing standbys that gave the primary's answer within the deadline
    left_behind: int = 0  # and that did not
    lag_seconds: float = 0.0  # sum, of the standbys that caught up
    outages: int = 0  # times that the primary was left
    returns: int = 0  # and fully trusted again
    cutoff: float = 0.0  # gauge: seconds, of the primary's busiest kind of call
    trust: float = 1.0  # gauge: share of the calls that ask the primary first


@dataclass(frozen=True, slots=True)
class SideReport:
    """One side as a race sees it now. Latencies in seconds, infinite where they are not known."""

    mode: str  # well, left, returning
    distrust: float  # 0: no doubt; 1: the side is left
    cutoff: float  # of the kind of call with most calls lately
    quantiles: dict[float, float]  # share of the window's calls -> latency


@dataclass(frozen=True, slots=True)
class Report:
    """A race as it is now. Budgets in extra calls."""

    stats: Stats
    sides: dict[Side, SideReport]
    forced: Side | None
    budget: float
    budget_when_ill: float

"""The counters of a race, for metrics."""

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """The two sides of a feed store."""

    PRIMARY = "primary"
    STANDBY = "standby"


@dataclass(slots=True)
class Stats:
    """Counts since the start; the last fields are gauges."""

    calls: int = 0
    primary_answers: int = 0
    standby_answers: int = 0
    failed: int = 0  # calls that ended without an answer
    late: int = 0  # calls whose first side had not answered at the cutoff
    primary_failures: int = 0  # errors of the store, whether or not the call got an answer
    standby_failures: int = 0
    hedges: int = 0  # calls to the second side
    refused: int = 0  # calls to the second side that the budget did not allow
    run_ons: int = 0  # losers that ran on to be measured
    warm: int = 0
    probes: int = 0  # shadow calls to an avoided side
    # warm calls not made for lack of budget or room, and probes not made for lack of room
    shed: int = 0
    compared: int = 0  # warm calls whose answer was compared
    differing: int = 0  # answers that were not the primary's
    caught_up: int = 0  # differing standbys that gave the primary's answer within the deadline
    left_behind: int = 0  # differing standbys that did not
    lag_seconds: float = 0.0  # sum over the standbys that caught up
    outages: int = 0  # times that requests left the primary
    returns: int = 0  # times that the primary was fully trusted again
    cutoff: float = 0.0  # gauge: seconds, for the primary's kind of call with most calls
    trust: float = 1.0  # gauge: share of the calls that ask the primary first


@dataclass(frozen=True, slots=True)
class SideReport:
    """One side as a race sees it now. Latencies are in seconds, infinite if unknown."""

    mode: str  # well, avoided, returning
    distrust: float  # 0: no doubt; 1: requests leave the side
    cutoff: float  # for the kind of call with most calls recently
    quantiles: dict[float, float]  # share of the window's calls -> latency


@dataclass(frozen=True, slots=True)
class Report:
    """A race as it is now. Budgets are in extra calls."""

    stats: Stats
    sides: dict[Side, SideReport]
    forced: Side | None
    budget: float
    budget_when_ill: float

"""The race's parameters. Change a default here; each has a sentence and an example with numbers."""

from dataclasses import dataclass

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Policy:
    """Seconds, shares of calls (0 to 1) and counts. The defaults suit a gateway.

    The examples assume 1,000 calls a second, a median of 3 ms and a deadline of 2 s.
    """

    # The cutoff, separate for each side and kind of call: see `cutoff`.

    quantile: float = 0.999
    """The upper bound of the cutoff as a quantile of the latency. 0.999: one call in 1,000 is
    late."""

    multiple: float = 8.0
    """The upper bound of the cutoff in medians. 8 with a median of 3 ms: 24 ms."""

    ceiling: float = 0.05
    """The upper bound of the cutoff in seconds, unless more calls take longer than the budget
    allows to hedge. 0.05: with a 99.9th percentile of 300 ms the cutoff is 50 ms; on a store where
    every call takes 60 ms, it is a little more than 60 ms."""

    floor: float = 0.005
    """The lower bound of the cutoff in seconds. 0.005: a store that answers within 1 ms is hedged
    after 5 ms, because this process' timers are not more exact."""

    window: float = 30.0
    """Latencies older than this don't count. 30: that a store became slower is known after 30 s."""

    enough: float = 100
    """Until the window holds this many latencies, the start value is the cutoff. 100: a tenth of a
    second after the start. A kind of call that comes once a second always has the start value."""

    few: float = 10
    """From this many latencies on, the start value is raised if the budget could not pay for all
    late calls. 10: after ten calls of 60 ms the cutoff is above 60 ms."""

    few_most: float = 0.2
    """The upper bound of a cutoff from fewer than `enough` latencies. 0.2: a single answer after
    1.9 s among twenty delays hedges by at most 200 ms."""

    comparable: float = 50
    """From this many latencies of one side on, the other side's calls are compared with them. 50:
    when 50 warm calls of the standby took at most 10 ms, each call of the primary beyond the
    ceiling counts as lost, even if it was not hedged."""

    kinds_most: int = 32
    """Kinds of calls with a separate estimate; later kinds share one. 32: a side holds about 32 x
    100 counters."""

    # Losers that run on to be measured: see `cutoff`.

    run_on: float = 0.1
    """Share of the calls that run on when they lose. 0.1: with 10 losers a second, one of them is
    read to its end, and stands for ten."""

    run_on_most: int = 4
    """Calls that run on at the same time. 4: a side that hangs holds four such calls."""

    finish_most: int = 0
    """Other losers that may finish at the same time, for stores where cancelling a call costs a
    connection. 0: each is cancelled."""

    # Extra load.

    extra: float = 0.03
    """Share of the calls that may be added as hedges of late calls and as warm calls. 0.03: 30 a
    second."""

    extra_when_ill: float = 1.0
    """Share of the calls that may be added as hedges of failed calls, and of late calls while the
    first side keeps failing or losing. 1.0: in an outage every call may be made twice, and none
    three times."""

    burst: float = 20.0
    """Extra calls that may be made at once after a quiet time, for each of the two budgets. 20: of
    50 calls that are late together, 20 are hedged."""

    # Outages: see `health`.

    well: float = 0.02
    """Share of failed calls on a healthy side. 0.02: 2 failures in 100 raise no doubt."""

    well_lost: float = 0.05
    """Share of lost calls on a healthy side. 0.05: equal sides with a heavy tail may always lose 2
    calls in 100 to each other; 15 in 100 raise doubt."""

    ill: float = 0.3
    """Share of failed or lost calls on a side that should be avoided. 0.3: from about 12% on, doubt
    grows faster than it fades."""

    slow_well: float = 0.5
    """Share of the races with both sides late that a healthy side loses. 0.5: equal sides win in
    turn."""

    slow_ill: float = 0.95
    """Share of the races with both sides late that an ill side loses. 0.95: requests leave it after
    21 such losses in a row."""

    patience: int = 5
    """Failed calls in a row after which requests leave a side. 5: 5 ms at 1,000 calls a second.
    Lost calls weigh less: 8 of them."""

    hold: float = 1.0
    """The shortest time in seconds for which requests leave a side; it doubles with each relapse.
    1, 2, 4, ..."""

    hold_most: float = 60.0
    """The upper bound of `hold`. 60: a side that fails and recovers again and again is tried once a
    minute."""

    first_share: float = 1 / 16
    """Share of the calls that ask a side first when it returns. 1/16: 62 calls a second."""

    step: float = 1.0
    """Seconds until that share doubles. 1: all calls come back 4 s after the first."""

    probe_every: float = 0.05
    """Seconds between two probes of an avoided side, at least. 0.05: at most 20 a
    second."""

    probe_alone_every: float = 0.25
    """Seconds between two probes while no calls are made. 0.25: 4 a second, so that the 40 good
    probes after which a side returns take 10 s on an idle gateway."""

    probe_most: int = 4
    """Probes at the same time. 4: with a deadline of 2 s, a side that hangs gets 2 a second."""

    # Warming.

    warm: float = 0.01
    """Share of the primary's calls that the standby gets, too. 0.01: 10 a second. 0: none, and none
    by the timer."""

    warm_every: float = 5.0
    """The longest time in seconds without a call to the standby. 5: on a gateway with one call a
    minute, the standby gets 12."""

    warm_most: int = 8
    """Warm calls at the same time. 8: a standby that hangs holds eight."""

    compare: float = 0.25
    """Share of the warm calls whose answers are compared. 0.25: 2 or 3 a second."""


ADAPTIVE = Policy()

EAGER = Policy(extra=0.1, warm=0.02, finish_most=32)
"""A policy for standbys with room. Where 5% of the calls stall on both sides, all of them are
hedged; under `ADAPTIVE`, fewer than half."""

FIXED = Policy(
    floor=0.0,
    ceiling=NEVER,
    enough=NEVER,
    few=NEVER,
    run_on=0.0,
    burst=1e12,
    patience=1_000_000_000,
    probe_alone_every=NEVER,
    warm=0.0,
)
"""A policy without measurements: the cutoff keeps its start value, every late call is hedged, and
the primary comes first."""

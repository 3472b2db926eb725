"""How a race behaves: cutoff, budgets, when it leaves a side, how it keeps the other warm."""

from dataclasses import dataclass

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Policy:
    """Seconds, shares of calls (0 to 1) and counts. The defaults are those of a gateway."""

    # The cutoff: min(quantile, multiple * median, ceiling), and no less than the floor.
    quantile: float = 0.999
    multiple: float = 8.0
    floor: float = 0.005
    ceiling: float = 0.05
    window: float = 30.0  # of the latencies that count
    enough: float = 100  # latencies in the window below which the start value stands

    # Primaries that lose to the standby and run on all the same, to be measured.
    run_on: float = 0.1  # share of the calls that may
    run_on_most: int = 4  # at a time

    # Losers that may run to their end, at a time, where cancelling one costs more than its answer
    # (a connection, most often); the others are cancelled.
    finish_most: int = 0

    # Extra load, as a share of the calls; `burst` calls may come at once.
    extra: float = 0.03
    extra_when_ill: float = 1.0  # after a failure, or while the first side fails again and again
    burst: float = 20.0

    # The outage: see `health`.
    well: float = 0.02  # share of failed or late calls of a side in order
    ill: float = 0.3  # and of one that is not
    patience: int = 5  # failures in a row that end the trust in a side
    hold: float = 1.0  # least time away from it; doubles when it relapses
    hold_most: float = 60.0
    step: float = 1.0  # until the share that goes to it again doubles
    first_share: float = 1 / 16
    probe_every: float = 0.05
    probe_most: int = 4  # at a time

    # Warming: calls that go to the standby as well, and what of them is compared.
    warm: float = 0.01
    warm_most: int = 8  # at a time
    compare: float = 0.25


ADAPTIVE = Policy()

FIXED = Policy(
    floor=0.0,
    ceiling=NEVER,
    enough=NEVER,
    run_on=0.0,
    burst=1e12,
    patience=1_000_000_000,
    warm=0.0,
)
"""The start value is the cutoff for ever, every late call is hedged, the primary comes first."""

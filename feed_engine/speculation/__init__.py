"""Speculative execution: when a call to the primary fails or is late, the standby is called, too.

The design follows "The Tail at Scale" (Dean and Barroso, CACM 2013), in which a hedged request asks
a second replica after the first has taken longer than a high percentile, and Pinterest's
description of its home feed.

- `cutoff`: how long a call may take before the other side is called, too (Finagle, Cassandra).
- `budget`: how many extra calls may be made (Finagle's retry budget, gRPC's retry throttling).
- `contender` and `health`: when requests leave a side, and how they return (Page's CUSUM).
- `warming` and `upkeep`: calls whose results are dropped, made beside other calls or by a timer.
- `race` and `call`: all of these together; `policy`: the parameters.
"""

from feed_engine.speculation.policy import ADAPTIVE, EAGER, FIXED, Policy
from feed_engine.speculation.race import Race, Raced
from feed_engine.speculation.stats import Report, Side, SideReport, Stats

__all__ = [
    "ADAPTIVE",
    "EAGER",
    "FIXED",
    "Policy",
    "Race",
    "Raced",
    "Report",
    "Side",
    "SideReport",
    "Stats",
]

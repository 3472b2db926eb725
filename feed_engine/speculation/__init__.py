"""Speculative execution: a call to the primary is hedged by its standby when it fails or is late.

After "The Tail at Scale" (Dean and Barroso, CACM 2013), whose hedged requests ask a second replica
once the first has taken longer than a high percentile, and Pinterest's account of its home feed.

- `cutoff`: how long a call may take before the other side is asked too (Finagle, Cassandra).
- `budget`: how many extra calls may be made (Finagle's retry budget, gRPC's retry throttling).
- `contender` and `health`: when a side is left, and how it returns (Page's CUSUM).
- `warming` and `upkeep`: calls whose result is dropped, beside other calls and by themselves.
- `race` and `call`: all of this together; `policy`: the parameters.
"""

from feed_engine.speculation.policy import ADAPTIVE, FIXED, Policy
from feed_engine.speculation.race import Race, Raced
from feed_engine.speculation.stats import Report, Side, SideReport, Stats

__all__ = [
    "ADAPTIVE",
    "FIXED",
    "Policy",
    "Race",
    "Raced",
    "Report",
    "Side",
    "SideReport",
    "Stats",
]

"""Speculative execution: a call to the primary is hedged by its standby when it fails or is late.

After "The Tail at Scale" (Dean and Barroso, 2013) and Pinterest's account of its home feed.
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

"""What a page of the home feed is."""

from dataclasses import dataclass

from feed_engine.rows import Reason
from feed_engine.speculation import Side


@dataclass(frozen=True, slots=True)
class HomeItem:
    pin_id: int
    reason: Reason
    cursor: str


@dataclass(frozen=True, slots=True)
class Health:
    """Which side answered (None: neither); whether newer or more may exist than is shown, and if
    so, the epoch ms of the newest chunk shown (None: not known)."""

    pools: Side | None
    materialized: Side | None
    may_be_stale: bool
    stale_since: int | None = None


@dataclass(frozen=True, slots=True)
class HomePage:
    items: list[HomeItem]
    has_next: bool
    visit: str
    health: Health

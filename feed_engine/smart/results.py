"""What a page of the home feed is."""

from dataclasses import dataclass

import msgspec

from datasources.records import Pin
from feed_engine.rows import Reason
from feed_engine.speculation import Side


class HomeItem(msgspec.Struct, frozen=True):
    pin: Pin
    reason: Reason
    cursor: str


@dataclass(frozen=True, slots=True)
class Health:
    """Which side answered (None: neither); whether more may exist than is shown; and, when no new
    pins could be chosen, the epoch ms of when they last could (None: not known)."""

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

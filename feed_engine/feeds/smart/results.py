"""The result of reading a page of the home feed."""

from dataclasses import dataclass

import msgspec

from datasources.records import Pin
from feed_engine.feeds.rows import Reason
from feed_engine.speculation import Side


class HomeItem(msgspec.Struct, frozen=True):
    """A card. `causes`: what the viewer follows that brought a new pin, or another pin of the same
    picture that they may see."""

    pin: Pin
    reason: Reason
    cursor: str
    causes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """The side that answered (None: neither); whether more pins may exist than are shown; and, when
    no new pins could be chosen, the epoch ms of when they last could (None: not known)."""

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

"""The result of reading a page of the home feed."""

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from datasources.records import Pin
from feed_engine.feeds.rows import Reason
from feed_engine.speculation import Side


class Cause(NamedTuple):
    """A followed user, board or interest, and the pin that it brought: the card's own, or another
    pin of the same picture that the viewer may see."""

    followed_id: int
    pin: Pin


class HomeItem(msgspec.Struct, frozen=True):
    """A card. `causes`: all that brought the picture of a new pin by a follow, the pin's own first;
    empty if the page was read without causes."""

    pin: Pin
    reason: Reason
    cursor: str
    causes: tuple[Cause, ...] = ()


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

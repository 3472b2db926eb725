"""The result of reading a page of the home feed."""

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from datasources.records import Pin
from feed_engine.feeds.rows import Reason
from feed_engine.speculation import Side


class Cause(NamedTuple):
    """A followed user, board or interest, and the pin that it brought: the card's pin, or another
    pin of the same picture that the viewer may see."""

    followed_id: int
    pin: Pin


class HomeItem(msgspec.Struct, frozen=True):
    """A card of the home feed. `causes`: everything followed that brought the picture of a new pin,
    first the causes of the pin itself. Empty if the page was read without causes."""

    pin: Pin
    reason: Reason
    cursor: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """How well a page could be read: the side that answered (None: neither), whether more pins may
    exist than are shown and, when no new pins could be chosen, the epoch ms at which pins could
    last be chosen (None: unknown)."""

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

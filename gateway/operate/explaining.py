"""Explains a viewer's home feed to an operator: which pins the next visit shows, and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from datasources.errors import NotFound
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Board, Interest, Pin, User
from feed_engine.feeds.smart.explain import Explained, Explanation, explain
from feed_engine.feeds.smart.shares import Rates, Shares, Tally
from feed_engine.transactions import access
from gateway.site.runtime import Runtime
from resolvers import nodes
from resolvers.context import Context, object_id
from resolvers.feeds import Cards


async def user_id(stores: Stores, username: str) -> int:
    """The id of a user. Raises NotFound, also for a deleted account, which still has its name."""
    name = username.lower()
    found = await stores.shards.mod.find("username", [name])
    if name not in found or not await access.read(stores, User, [found[name]]):
        raise NotFound(f"there is no user {username!r}")
    return found[name]


async def explain_feed(runtime: Runtime, username: str, pin: str | None) -> dict[str, Any]:
    """The next visit of a user, in plain values; with the id of a pin, what happens to the pin.
    Raises NotFound, BadInput."""
    viewer_id = await user_id(runtime.stores, username)
    pin_id = None if pin is None else object_id(pin, Kind.PIN)
    context = Context(runtime.stores, runtime.feeds, viewer_id, "", lambda _: None)
    cards = Cards(context)
    found = await explain(
        runtime.feeds,
        viewer_id,
        pin_id,
        visible=cards.visible,
        boards=cards.load_boards,
        likes=cards.likes,
    )
    weights = runtime.feeds.weights._asdict()
    learned = runtime.feeds.learned.weights is not None
    rates = runtime.feeds.settings.rates
    return await _plain(context, found) | {
        "weights": weights,
        "learned": learned,
        "shares": _shares(found.shares, rates),
        "shares_learned": found.shares.rates != rates,
    }


async def _plain(context: Context, found: Explanation) -> dict[str, Any]:
    every = [*found.chosen, *([found.asked] if found.asked else [])]
    ids = {id for each in every for id in (each.pin_id, each.cause_id) if id}
    names = await _names(context, ids)
    return {
        "pins": [_entry(each, names) for each in found.chosen],
        "verdict": found.verdict and found.verdict.name,
        "because": found.verdict and found.verdict.value,
        "asked": _entry(found.asked, names) if found.asked else None,
    }


def _shares(found: Shares, rates: Rates) -> dict[str, Any]:
    """For each source that is mixed, its share by the settings and in the visit, and the pins that
    recent visits showed and the viewer liked, decayed by age."""
    before, after = sum(rates.values()), sum(found.rates.values())
    told = {}
    for source, rate in rates.items():
        if rate:
            tally = found.tallies.get(source, Tally())
            told[source.name] = {
                "settings": round(rate / before, 3),
                "share": round(found.rates[source] / after, 3),
                "shown": round(tally.shown, 1),
                "liked": round(tally.liked, 1),
            }
    return told


async def _names(context: Context, ids: Iterable[int]) -> Mapping[int, str]:
    """Names of users, boards and interests, and titles of pins, as the viewer sees them."""
    found = await nodes.of_ids(context, list(ids))
    return {id: _name(record) for id, record in found.items()}


def _name(record: object) -> str:
    match record:
        case User():
            return record.username
        case Board() | Interest():
            return record.name
        case Pin():
            return record.title
    return ""  # it can't be read now


def _entry(each: Explained, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "id": str(each.pin_id),
        "title": names.get(each.pin_id, ""),
        "source": each.source.name,
        "reason": each.reason.name,
        "cause": names.get(each.cause_id, ""),
        "score": {name: round(part, 2) for name, part in each.score._asdict().items()},
        "total": round(each.score.total, 2),
    }

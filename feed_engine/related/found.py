"""Public pins of the roots that walks found."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.content import public_pins
from feed_engine.related.spread import spread
from feed_engine.related.walks import Walks

if TYPE_CHECKING:
    from feed_engine.related.graph import Graph
    from feed_engine.related.walk import Plan, Query

LOOKED_AT = 3  # roots that are looked at for each pin that is wanted


class Root(NamedTuple):
    """A root that walks found: pins of it, the best first; its score; and the place of the query
    that led there."""

    pin_ids: Sequence[int]
    score: float
    cause: int


class Related(NamedTuple):
    """A public pin that walks found. `share`: its score, divided by the best score."""

    pin: Pin
    share: float
    cause: int


def seed_of(*numbers: int) -> int:
    """The seed of walks that have these numbers: the same everywhere."""
    return crc32(b"".join(number.to_bytes(8, "big") for number in numbers))


def roots_of(
    queries: Sequence["Query"], wanted: int, *, seed: int, but: Iterable[int], plan: "Plan"
) -> "Callable[[Graph], list[Root]]":
    """Walks from the queries, for `Walks.run`. `but`: boards whose roots are left out."""

    def walk(graph: "Graph") -> list[Root]:
        from feed_engine.related.walk import related_roots

        ranked = related_roots(graph, queries, seed=seed, plan=plan, but=graph.roots_on(but))
        count = LOOKED_AT * wanted
        found = zip(*(column[:count].tolist() for column in ranked), strict=True)
        return [Root(graph.pins_of(number), score, cause) for number, score, cause in found]

    return walk


async def related_pins(
    stores: Stores,
    walks: Walks,
    queries: Sequence["Query"],
    wanted: int,
    *,
    seed: int,
    plan: "Plan",
    but: Iterable[int] = (),
    viewer_id: int | None = None,
    patient: bool = False,
) -> list[Related] | None:
    """Up to `wanted` pins that everybody may see, best first, few of one board. The viewer's own
    pins are left out. None without a graph."""
    act = roots_of(queries, wanted, seed=seed, but=but, plan=plan)
    roots = await walks.run(act, patient=patient)
    if roots is None:
        return None
    chosen = await _public(stores, roots, viewer_id)
    best = max((root.score for root in roots), default=1.0)
    found = [
        Related(chosen[place], root.score / best, root.cause)
        for place, root in enumerate(roots)
        if place in chosen
    ]
    return list(spread(found, lambda it: it.pin.board_id))[:wanted]


async def _public(stores: Stores, roots: Sequence[Root], viewer_id: int | None) -> dict[int, Pin]:
    """For each root by its place, the first of its pins that everybody may see."""
    chosen: dict[int, Pin] = {}
    left = {place: list(root.pin_ids) for place, root in enumerate(roots)}
    while left := {place: ids for place, ids in left.items() if ids}:
        asked = {place: ids.pop(0) for place, ids in left.items()}
        public = await public_pins(stores, asked.values())
        for place, pin_id in asked.items():
            pin = public.get(pin_id)
            if pin is not None and pin.owner_id != viewer_id:
                chosen[place] = pin
                del left[place]
    return chosen

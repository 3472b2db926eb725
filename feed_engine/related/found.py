"""Public pins of the roots that walks found."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from datasources.errors import StoreError
from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.content import public_pins
from feed_engine.feeds.smart import materialized
from feed_engine.related.spread import spread
from feed_engine.related.walks import Walks

if TYPE_CHECKING:
    from feed_engine.related.graph import Graph
    from feed_engine.related.walk import Plan, Query

Public = Callable[[Sequence[int]], Awaitable[Mapping[int, Pin]]]
"""Returns the pins of these ids that everybody may see."""

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
    viewer_id: int,
) -> list[Related] | None:
    """Up to `wanted` pins that everybody may see, best first, few of one board. The viewer's own
    pins are left out, and pictures that the home feed showed to the viewer. None without a
    graph."""
    act = roots_of(queries, wanted, seed=seed, but=but, plan=plan)
    roots = await walks.run(act, patient=True)
    if roots is None:
        return None

    async def public(ids: Sequence[int]) -> Mapping[int, Pin]:
        found = await public_pins(stores, ids)
        pictures = {id for pin in found.values() for id in (pin.id, pin.root)}
        gone = set[int]()
        with suppress(StoreError):  # a visit looks again
            gone = await materialized.shown_to(stores.feeds, viewer_id, list(pictures))
        return {
            id: pin
            for id, pin in found.items()
            if pin.owner_id != viewer_id and gone.isdisjoint((pin.id, pin.root))
        }

    return (await shown([roots], wanted, public))[0]


async def shown(
    found: Sequence[Sequence[Root]], wanted: int, public: Public
) -> list[list[Related]]:
    """For each list of roots, up to `wanted` pins that `public` returns, few of one board. Of a
    root's pins, the first is shown. `public` is called twice at most."""
    chosen: dict[int, Pin] = {}
    every = {id(root): root for roots in found for root in roots}
    for asked in (slice(0, 1), slice(1, None)):
        left = [(at, root.pin_ids[asked]) for at, root in every.items() if at not in chosen]
        pins = await public(list({pin_id for _, ids in left for pin_id in ids})) if left else {}
        for at, ids in left:
            if pin := next((pins[pin_id] for pin_id in ids if pin_id in pins), None):
                chosen[at] = pin
    return [_best([r for r in roots if id(r) in chosen], chosen, wanted) for roots in found]


def _best(roots: Sequence[Root], chosen: Mapping[int, Pin], wanted: int) -> list[Related]:
    best = max((root.score for root in roots), default=1.0)
    related = [Related(chosen[id(root)], root.score / best, root.cause) for root in roots]
    return list(spread(related, lambda it: it.pin.board_id))[:wanted]

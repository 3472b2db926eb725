"""Related pins, and suggestions for boards and users, found by walks (`feed_engine.related`).

Walks know public boards only. The pins that they find are checked again before they are shown, so
that nothing on a board that has become secret or was deleted is shown, not even to its owner.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from datasources.mappings import EdgeKey, PageRequest
from datasources.mappings import Mapping as Mappings
from datasources.records import Board, Pin, Record, User
from feed_engine.related.found import Root, roots_of, seed_of, shown
from feed_engine.related.taste import HALVED, MOST
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of
from resolvers.context import Context
from resolvers.paging import page_size

if TYPE_CHECKING:
    from feed_engine.related.graph import Graph
    from feed_engine.related.walk import Query

T = TypeVar("T")
BOARDS = 5  # boards that are looked at for each user who is suggested


@bulk
async def related(context: Context, pins: Sequence[Pin], *, first: int = 25) -> Column[list[Pin]]:
    size = page_size(first)
    return await _pins(context, [_Asked(pin.id, [pin]) for pin in pins], size)


@bulk
async def suggested_pins(
    context: Context, boards: Sequence[Board], *, first: int = 25
) -> Column[list[Pin]]:
    size = page_size(first)
    newest = await _newest(context, Mappings.BOARD_HAS_PINS, boards)
    asked = [
        _Asked(board.id, pins, but=(board.id,)) for board, pins in zip(boards, newest, strict=True)
    ]
    return await _pins(context, asked, size)


@bulk
async def suggested_users(
    context: Context, users: Sequence[User], *, first: int = 25
) -> Column[list[User]]:
    size = page_size(first)
    newest = await _newest(context, Mappings.USER_HAS_PUBLIC_PINS, users)
    asked = [_Asked(user.id, pins) for user, pins in zip(users, newest, strict=True)]
    found = await _walk(context, [it.boards(BOARDS * size) for it in asked])
    if found is None:
        return [[] for _ in users]
    seen = await visibility.boards(context, list({id for some in found for id, _ in some}))
    owners = [_owners(user, some, seen) for user, some in zip(users, found, strict=True)]
    keys = [
        EdgeKey(Mappings.USER_FOLLOWS_USERS, user.id, owner)
        for user, some in zip(users, owners, strict=True)
        for owner in some
    ]
    edges = zip(keys, await context.loaders.edges.many(keys), strict=True)
    followed = {key for key, edge in edges if edge is not None}  # also if it is not known
    wanted = [
        [id for id in some if EdgeKey(Mappings.USER_FOLLOWS_USERS, user.id, id) not in followed]
        for user, some in zip(users, owners, strict=True)
    ]
    people = await visibility.users(context, list({id for some in wanted for id in some[:size]}))
    return [
        [person for id in some[:size] if isinstance(person := people.get(id), User)]
        for some in wanted
    ]


class _Asked:
    """Pins from which walks begin, the first with the most weight. `but`: boards whose roots are
    left out. The same pins always begin the same walks."""

    def __init__(self, id: int, pins: Sequence[Pin], but: Sequence[int] = ()) -> None:
        self._seed, self._pins, self._but = seed_of(id), pins, but

    def roots(self, wanted: int) -> "Callable[[Graph], list[Root]]":
        from feed_engine.related.walk import BRIEF

        return roots_of(self._queries(), wanted, seed=self._seed, but=self._but, plan=BRIEF)

    def boards(self, wanted: int) -> "Callable[[Graph], list[tuple[int, float]]]":
        """Boards with their scores, best first."""
        from feed_engine.related.walk import BRIEF, related_boards

        def walk(graph: "Graph") -> list[tuple[int, float]]:
            ranked = related_boards(graph, self._queries(), seed=self._seed, plan=BRIEF)
            ids = graph.board_names.ids(ranked.numbers[:wanted]).tolist()
            return list(zip(ids, ranked.scores[:wanted].tolist(), strict=True))

        return walk

    def _queries(self) -> "list[Query]":
        from feed_engine.related.walk import Query

        weights = (0.5 ** (place / HALVED) for place in range(len(self._pins)))
        return [Query(pin.root, weight) for pin, weight in zip(self._pins, weights, strict=True)]


async def _pins(context: Context, asked: Sequence[_Asked], size: int) -> list[list[Pin]]:
    found = await _walk(context, [it.roots(size) for it in asked])
    if found is None:
        return [[] for _ in asked]

    async def public(ids: Sequence[int]) -> Mapping[int, Pin]:
        seen = await visibility.pins(context, ids)
        pins = {id: pin for id, pin in seen.items() if isinstance(pin, Pin)}
        return {
            id: pin
            for id, pin in (await visibility.public_pins(context, list(pins.values()))).items()
            if isinstance(pin, Pin)
        }

    return [[it.pin for it in some] for some in await shown(found, size, public)]


async def _walk(context: Context, acts: "Sequence[Callable[[Graph], T]]") -> list[T] | None:
    """The results of walks, one after the other; None without a graph."""
    if context.walks is None or not await context.walks.usable():
        return None
    return await context.walks.run(lambda graph: [act(graph) for act in acts])


async def _newest(
    context: Context, mapping: Mappings, parents: Sequence[Record]
) -> list[list[Pin]]:
    """The newest pins of each parent's list."""
    requests = [PageRequest(key, MOST) for key in lists_of(mapping, parents)]
    pages = await context.loaders.pages.many(requests)
    ids = [[row.to_id for row in page] if isinstance(page, list) else [] for page in pages]
    found = await visibility.pins(context, list({id for some in ids for id in some}))
    return [[pin for id in some if isinstance(pin := found.get(id), Pin)] for some in ids]


def _owners(
    user: User, found: Sequence[tuple[int, float]], boards: visibility.Found[Board]
) -> list[int]:
    """The owners of the boards, best first, without the user."""
    scores: dict[int, float] = defaultdict(float)
    for id, score in found:
        board = boards.get(id)
        if isinstance(board, Board) and not board.secret and board.owner_id != user.id:
            scores[board.owner_id] += score
    return sorted(scores, key=lambda owner: (-scores[owner], owner))

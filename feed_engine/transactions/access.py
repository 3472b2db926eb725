"""Access checks of writes: loads objects from the master shards, and decides who may change them.

For an object that the viewer may not see, the answer and the calls of stores are the same as for a
missing object. For a missing pin, a decoy takes the place of its board. A viewer sees nothing of a
user if one of the two blocks the other.
"""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from datasources import records
from datasources.errors import BadInput, Forbidden, NotFound, RequestError
from datasources.ids import InvalidId, Kind, decoy, kind_of, shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Comment, Interest, Pin, Record, User
from feed_engine.transactions import blocks

R = TypeVar("R", bound=Record)


class NotOwner(Forbidden):
    """The refusal of a change of another user's object. `absent` is the refusal for a viewer who
    may not see the owner, or one of the `further` users on whom the object depends."""

    def __init__(
        self,
        message: str,
        field: str | None,
        owner_id: int,
        absent: NotFound,
        further: tuple[int, ...] = (),
    ) -> None:
        super().__init__(message, field)
        self.owner_id, self.absent, self.further = owner_id, absent, further


def missing(kind: Kind, id: int, field: str | None = None) -> NotFound:
    name = kind.name.lower()
    return NotFound(f"There is no {name} {id}.", field or f"{name}Id")


def home(stores: Stores, kind: Kind, id: int, field: str | None = None) -> int:
    """The shard of an object. Raises NotFound if the id is of another kind, or of a shard that is
    not open."""
    try:
        sound = kind_of(id) is kind
        stores.shards.objects.topology().master_of(shard_of(id))
    except (InvalidId, KeyError):
        sound = False
    if not sound:
        raise missing(kind, id, field)
    return shard_of(id)


async def read(stores: Stores, record: type[R], ids: Sequence[int]) -> dict[int, R]:
    """The objects that exist and are not deleted, from their master shards."""
    found = await stores.shards.objects.get(ids) if ids else {}
    return {id: it for id, raw in found.items() if (it := _decoded(record, id, raw)).active}


async def recall(stores: Stores, record: type[R], id: int) -> R:
    """The present object, deleted or not."""
    found = await stores.shards.objects.get([id])
    if id not in found:
        raise missing(records.KINDS[record], id)
    return _decoded(record, id, found[id])


async def lock_any(tx: ShardTx, record: type[R], id: int) -> tuple[R, bytes] | None:
    """The object and its JSON, deleted or not. Locks the object."""
    raw = await tx.get(id)
    return None if raw is None else (_decoded(record, id, raw), raw)


async def lock(tx: ShardTx, record: type[R], id: int) -> tuple[R, bytes]:
    """The object and its JSON. Locks the object. Raises NotFound if it is missing or deleted."""
    found = await lock_any(tx, record, id)
    if found is None or not found[0].active:
        raise missing(records.KINDS[record], id)
    return found


def visible(board: Board, viewer_id: int) -> bool:
    return board.active and (not board.secret or board.has_member(viewer_id))


async def lock_own_board(tx: ShardTx, viewer_id: int, board_id: int) -> tuple[Board, bytes]:
    """The viewer's board. Locks it: its state stays the same until the commit. Raises NotFound
    (also for another user's secret board) or Forbidden."""
    return own_board(await lock_any(tx, Board, board_id), viewer_id, board_id)


def own_board(
    found: tuple[Board, bytes] | None, viewer_id: int, board_id: int
) -> tuple[Board, bytes]:
    """The locked board, if it belongs to the viewer. Raises NotFound, Forbidden."""
    board, raw = seen_board(found, viewer_id, board_id)
    if board.owner_id != viewer_id:
        message = "Only a board's owner may change it and what is on it."
        raise NotOwner(message, "boardId", board.owner_id, missing(Kind.BOARD, board_id))
    return board, raw


async def lock_shared_board(tx: ShardTx, viewer_id: int, board_id: int) -> tuple[Board, bytes]:
    """A board whose owner the viewer is, or on which the viewer collaborates. Locks it. Raises
    NotFound (also for another user's secret board) or Forbidden."""
    return shared_board(await lock_any(tx, Board, board_id), viewer_id, board_id)


def shared_board(
    found: tuple[Board, bytes] | None, viewer_id: int, board_id: int
) -> tuple[Board, bytes]:
    """The locked board, if the viewer may add and order its pins. Raises NotFound, Forbidden."""
    board, raw = seen_board(found, viewer_id, board_id)
    if not board.has_member(viewer_id):
        message = "Only a board's owner and its collaborators may add and order its pins."
        raise NotOwner(message, "boardId", board.owner_id, missing(Kind.BOARD, board_id))
    return board, raw


def seen_board(
    found: tuple[Board, bytes] | None, viewer_id: int, board_id: int
) -> tuple[Board, bytes]:
    """The locked board, if the viewer may see it. Raises NotFound."""
    if found is None or not visible(found[0], viewer_id):
        raise missing(Kind.BOARD, board_id)
    return found


async def find_board(
    stores: Stores, viewer_id: int, board_id: int, field: str | None = None
) -> Board:
    """A board that the viewer may see. Raises NotFound."""
    home(stores, Kind.BOARD, board_id, field)
    found, known = await asyncio.gather(
        read(stores, Board, [board_id]), blocks.read(stores, viewer_id)
    )
    board = found.get(board_id)
    owner_id = None if board is None else board.owner_id
    hidden = await blocks.hides(stores, viewer_id, known, owner_id)
    if board is None or hidden or not visible(board, viewer_id):
        raise missing(Kind.BOARD, board_id, field)
    return board


async def find_user(stores: Stores, viewer_id: int, user_id: int, field: str | None = None) -> User:
    """A user whom the viewer may see. Raises NotFound."""
    home(stores, Kind.USER, user_id, field)
    found, known = await asyncio.gather(
        read(stores, User, [user_id]), blocks.read(stores, viewer_id)
    )
    hidden = await blocks.hides(stores, viewer_id, known, user_id)
    if user_id not in found or hidden:
        raise missing(Kind.USER, user_id, field)
    return found[user_id]


async def unseen(stores: Stores, viewer_id: int, refusal: RequestError) -> NotFound | None:
    """The error in place of a refusal that would tell the viewer of an object of a hidden user. For
    a missing object, the same calls of stores are made."""
    if not isinstance(refusal, NotOwner | NotFound) or not viewer_id:
        return None
    owner_id, further = None, tuple[int, ...]()
    if isinstance(refusal, NotOwner):
        owner_id, further = refusal.owner_id, refusal.further
    hidden = await blocks.holds(stores, viewer_id, owner_id, *further)
    return refusal.absent if hidden and isinstance(refusal, NotOwner) else None


async def find_pin(stores: Stores, viewer_id: int, pin_id: int) -> tuple[Pin, Board]:
    """A pin that the viewer may see, and its board. Raises NotFound."""
    home(stores, Kind.PIN, pin_id)
    found, known = await asyncio.gather(
        _find_pin(stores, viewer_id, pin_id), blocks.read(stores, viewer_id)
    )
    if await _hidden(stores, viewer_id, known, found) or found is None:
        raise missing(Kind.PIN, pin_id)
    return found


async def find_pins(stores: Stores, viewer_id: int, pin_ids: Sequence[int]) -> dict[int, Pin]:
    """The pins among these that the viewer may see. A pin that is moving from or to a secret board
    may be left out."""
    pins, known = await asyncio.gather(read(stores, Pin, pin_ids), blocks.read(stores, viewer_id))
    boards = await read(stores, Board, list({pin.board_id for pin in pins.values()}))
    found: dict[int, Pin] = {}
    for pin in pins.values():
        board = boards.get(pin.board_id)
        if board is None or not visible(board, viewer_id):
            continue
        if _settled(pin, board, viewer_id) and not await _hidden(
            stores, viewer_id, known, (pin, board)
        ):
            found[pin.id] = pin
    return found


def _settled(pin: Pin, board: Board, viewer_id: int) -> bool:
    """Whether the viewer may certainly see a pin that was read before its board. The pin may have
    left a board that was secret then, or on which the viewer did not collaborate then."""
    return board.owner_id == viewer_id or (not board.secret and pin.flips == board.flips)


async def _hidden(
    stores: Stores, viewer_id: int, known: blocks.Blocks, found: tuple[Pin, Board] | None
) -> bool:
    """Whether a pin is hidden because a block keeps the viewer from its board's owner or from the
    user who saved it, or because that user's account is deleted. The owner of a board sees all pins
    on it that are not deleted. For a missing pin, the calls are the same as for an owner's pin."""
    if found is None:
        return await blocks.hides(stores, viewer_id, known, None)
    pin, board = found
    if pin.owner_id == board.owner_id:
        return await blocks.hides(stores, viewer_id, known, pin.owner_id)
    by = () if viewer_id == board.owner_id else (pin.owner_id,)
    if await blocks.hides(stores, viewer_id, known, board.owner_id, *by):
        return True
    return pin.owner_id not in await read(stores, User, [pin.owner_id])


async def _find_pin(stores: Stores, viewer_id: int, pin_id: int) -> tuple[Pin, Board] | None:
    pin = (await read(stores, Pin, [pin_id])).get(pin_id)
    if pin is None:
        await read(stores, Board, [decoy(pin_id, Kind.BOARD)])
    while pin is not None:
        board = (await read(stores, Board, [pin.board_id])).get(pin.board_id)
        if board is None or not visible(board, viewer_id):
            break
        if _settled(pin, board, viewer_id):
            return pin, board
        # The board may have been secret still when the pin was read, and the pin may have left it
        # since.
        known, pin = pin, (await read(stores, Pin, [pin_id])).get(pin_id)
        if pin == known:
            return pin, board
    return None


async def pin_of_comment(
    stores: Stores, viewer_id: int, comment_id: int, comment: Comment | None
) -> Pin:
    """The pin of a comment that the viewer may see. Raises NotFound, also without a comment."""
    pin_id = decoy(comment_id, Kind.PIN) if comment is None else comment.pin_id
    try:
        pin, _ = await find_pin(stores, viewer_id, pin_id)
    except NotFound:
        raise missing(Kind.COMMENT, comment_id) from None
    author_id = None if comment is None else comment.author_id
    if await blocks.holds(stores, viewer_id, author_id):
        raise missing(Kind.COMMENT, comment_id)
    return pin


async def check_interests(stores: Stores, ids: Sequence[int]) -> None:
    """Raises BadInput unless all ids are interests."""
    for id in ids:
        try:
            home(stores, Kind.INTEREST, id)
        except NotFound as error:
            raise BadInput(error.message, "interestIds") from None
    found = await read(stores, Interest, ids)
    if unknown := [id for id in ids if id not in found]:
        raise BadInput(missing(Kind.INTEREST, unknown[0]).message, "interestIds")


def _decoded(record: type[R], id: int, raw: bytes) -> R:
    found = records.decode(records.KINDS[record], id, raw)
    assert isinstance(found, record)
    return found

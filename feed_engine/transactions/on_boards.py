"""Changes of objects on boards: who may change what is on a board.

A board's owner may do everything. A collaborator may add and order pins, and may change the pins
that they added. The user who added a pin may delete it, also after leaving the board.
"""

from collections.abc import Callable
from typing import Any

from datasources.errors import NotFound
from datasources.ids import Kind, decoy
from datasources.protocols import ShardTx, Stores
from datasources.records import KINDS, Board, OnBoard, Pin
from feed_engine.transactions import access
from feed_engine.transactions.commit import Outdated


async def board_id_of(stores: Stores, record: type[OnBoard], id: int) -> int:
    """The board of an object; a decoy for a missing object: `lock_on_board` then refuses it
    with the calls that a hidden object takes."""
    found = (await access.read(stores, record, [id])).get(id)
    return decoy(id, Kind.BOARD) if found is None else found.board_id


Right = Callable[[Board, Any, int], bool]
"""Whether a viewer who sees the board may do something with an object on it."""


def may_edit(board: Board, pin: Pin, viewer_id: int) -> bool:
    """Whether the viewer may change the pin's texts: as a member who added it."""
    return pin.owner_id == viewer_id and board.has_member(viewer_id)


def may_move(board: Board, pin: Pin, viewer_id: int) -> bool:
    """Whether the viewer may take the pin to another board of the board's owner."""
    return board.owner_id == viewer_id or may_edit(board, pin, viewer_id)


def may_order(board: Board, it: OnBoard, viewer_id: int) -> bool:
    """Whether the viewer may give a pin another place on the board, or change a section."""
    return board.has_member(viewer_id)


def may_delete(board: Board, pin: Pin, viewer_id: int) -> bool:
    """Whether the viewer may delete the pin: as the board's owner, or as the user who added it."""
    return viewer_id in (board.owner_id, pin.owner_id)


_REFUSALS: dict[Right, str] = {
    may_edit: "Only the user who added a pin may change it, and only as a member of its board.",
    may_move: "Only a board's owner, and a collaborator who added the pin, may move it.",
    may_order: "Only a board's owner and its collaborators may order its pins and sections.",
    may_delete: "Only a board's owner and the user who added a pin may delete it.",
}


async def lock_on_board(
    tx: ShardTx, record: type[OnBoard], viewer_id: int, board_id: int, id: int, right: Right
) -> tuple[Board, OnBoard, bytes]:
    """An object, its board and its JSON, if the viewer has a right to it. Locks the board first, so
    the object stays on it. Raises Outdated if the object came to another board in the meantime,
    NotFound, Forbidden."""
    found = await access.lock_any(tx, Board, board_id)
    it, raw = await access.lock(tx, record, id)
    if it.board_id != board_id:
        raise Outdated
    absent = access.missing(KINDS[record], id)
    try:
        board, _ = access.seen_board(found, viewer_id, board_id)
    except NotFound:
        raise absent from None
    if not right(board, it, viewer_id):
        further = (it.owner_id,) if isinstance(it, Pin) and it.owner_id != board.owner_id else ()
        raise access.NotOwner(_REFUSALS[right], absent.field, board.owner_id, absent, further)
    return board, it, raw

"""Changes of objects on boards: only the owner of the board may change what is on it."""

from datasources.errors import NotFound
from datasources.ids import Kind, decoy
from datasources.protocols import ShardTx, Stores
from datasources.records import KINDS, Board, OnBoard
from feed_engine.transactions import access
from feed_engine.transactions.commit import Outdated


async def board_id_of(stores: Stores, record: type[OnBoard], id: int) -> int:
    """The board of an object; a decoy for a missing object: `lock_own` then refuses it with the
    calls that a hidden object takes."""
    found = (await access.read(stores, record, [id])).get(id)
    return decoy(id, Kind.BOARD) if found is None else found.board_id


async def lock_own(
    tx: ShardTx, record: type[OnBoard], viewer_id: int, board_id: int, id: int
) -> tuple[Board, OnBoard, bytes]:
    """The viewer's object, its board and its JSON. Locks the board first, so the object stays on
    it. Raises Outdated if the object came to another board in the meantime, NotFound, Forbidden."""
    found = await access.lock_any(tx, Board, board_id)
    it, raw = await access.lock(tx, record, id)
    if it.board_id != board_id:
        raise Outdated
    absent = access.missing(KINDS[record], id)
    try:
        board, _ = access.own_board(found, viewer_id, board_id)
    except NotFound:
        raise absent from None
    except access.NotOwner as error:
        raise access.NotOwner(error.message, absent.field, error.owner_id, absent) from None
    return board, it, raw

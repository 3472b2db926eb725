"""Making, changing and deleting boards, and their pins' order."""

from typing import Any

from datasources.ids import Kind
from feed_engine.writes import boards, reorder
from feed_engine.writes.inputs import BoardChange, NewBoard
from resolvers import visibility
from resolvers.context import Context, object_id
from resolvers.payloads import edge, mutation


@mutation("board", "board_edge", "user")
async def create_board(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    draft = NewBoard(name=input.name, description=input.description, secret=input.secret)
    written = await boards.create_board(context.stores, viewer_id, draft, key=input.idempotency_key)
    user = await context.loaders.users.load(viewer_id)
    if not written.board.active:  # deleted since this answer was first given
        return {"user": user}
    return {
        "board": written.board,
        "board_edge": edge(written.edge, written.board),
        "user": user,
    }


@mutation("board")
async def update_board(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    given = input.given()
    if given.get("cover_pin_id") is not None:
        given["cover_pin_id"] = object_id(given["cover_pin_id"], Kind.PIN, argument="coverPinId")
    board = await boards.update_board(
        context.stores,
        viewer_id,
        board_id,
        BoardChange(**given),
        key=input.idempotency_key,
    )
    return {"board": board}


@mutation("deleted_board_id", "user")
async def delete_board(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    await boards.delete_board(context.stores, viewer_id, board_id, key=input.idempotency_key)
    user = await context.loaders.users.load(viewer_id)
    return {"deleted_board_id": input.board_id, "user": user}


@mutation("pin", "pin_edge", "board")
async def reorder_pin(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    before, after = (
        None if text is None else object_id(text, Kind.PIN, argument=argument)
        for text, argument in (
            (input.before_pin_id, "beforePinId"),
            (input.after_pin_id, "afterPinId"),
        )
    )
    moved = await reorder.reorder_pin(
        context.stores, viewer_id, board_id, pin_id, before, after, key=input.idempotency_key
    )
    context.loaders.reset()
    pin = await visibility.pin(context, pin_id)
    board = await visibility.board(context, board_id)
    return {"pin": pin, "pin_edge": edge(moved.edge, pin) if pin else None, "board": board}

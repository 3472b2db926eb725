"""Making, changing and deleting boards, and their pins' order."""

from typing import Any

from datasources.ids import Kind
from datasources.records import Pin
from feed_engine.ordering import arrange, reorder
from feed_engine.transactions.inputs import BoardChange, NewBoard
from feed_engine.transactions.results import Crossed, Reordered
from feed_engine.writes import boards, move
from resolvers import visibility
from resolvers.context import Context, object_id
from resolvers.payloads import edge, mutation, problem


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
        "board_edge": edge(context, written.edge, written.board),
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
    return {"board": board if board.active else None}  # deleted since this answer was first given


@mutation("deleted_board_id", "user")
async def delete_board(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    await boards.delete_board(context.stores, viewer_id, board_id, key=input.idempotency_key)
    user = await context.loaders.users.load(viewer_id)
    return {"deleted_board_id": input.board_id, "user": user}


@mutation("pin", "pin_edge", "above_pin", "below_pin", "board", "order_version")
async def reorder_pin(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    before = _anchor(input.before_pin_id, "beforePinId")
    after = _anchor(input.after_pin_id, "afterPinId")
    try:
        moved = await reorder.reorder_pin(
            *(context.stores, viewer_id, board_id, pin_id, before, after),
            key=input.idempotency_key,
            spacing=context.spacing,
        )
    except Crossed as error:
        return {**await _placed(context, board_id, pin_id, error), "errors": [problem(error)]}
    placed = await _placed(context, board_id, pin_id, moved)
    pin = placed["pin"]
    return {**placed, "pin_edge": edge(context, moved.edge, pin) if pin else None}


@mutation("board", "order_version")
async def reorder_pins(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    arranged = await arrange.reorder_pins(
        context.stores,
        viewer_id,
        board_id,
        [object_id(id, Kind.PIN, argument="pinIds") for id in input.pin_ids],
        _anchor(input.before_pin_id, "beforePinId"),
        _anchor(input.after_pin_id, "afterPinId"),
        key=input.idempotency_key,
        spacing=context.spacing,
    )
    context.loaders.reset()
    board = await visibility.board(context, board_id)
    return {"board": board, "order_version": str(arranged)}


@mutation(
    "pin",
    "pin_edge",
    "above_pin",
    "below_pin",
    "from_board",
    "to_board",
    "removed_pin_id",
    "from_order_version",
    "to_order_version",
    "feed_token",
)
async def move_pin(context: Context, input: Any) -> dict[str, Any]:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    before = _anchor(input.before_pin_id, "beforePinId")
    after = _anchor(input.after_pin_id, "afterPinId")
    moved = await move.move_pin(
        *(context.stores, viewer_id, pin_id, board_id, before, after),
        key=input.idempotency_key,
        spacing=context.spacing,
    )
    placed = await _placed(context, board_id, pin_id, moved.placed)
    pin = placed["pin"]
    return {
        "pin": pin,
        "pin_edge": edge(context, moved.placed.edge, pin) if pin else None,
        "above_pin": placed["above_pin"],
        "below_pin": placed["below_pin"],
        "from_board": await visibility.board(context, moved.from_id),
        "to_board": placed["board"],
        "removed_pin_id": input.pin_id if moved.from_id != board_id else None,
        "from_order_version": str(moved.from_version),
        "to_order_version": placed["order_version"],
        "feed_token": context.feed_tokens.of(moved.placed.edge)
        if moved.from_id != board_id
        else None,
    }


def _anchor(text: str | None, argument: str) -> int | None:
    return None if text is None else object_id(text, Kind.PIN, argument=argument)


async def _placed(
    context: Context, board_id: int, pin_id: int, at: Reordered | Crossed
) -> dict[str, Any]:
    """A pin's place, in the form that a client's cache needs."""
    context.loaders.reset()
    ids = [id for id in (pin_id, at.above_id, at.below_id) if id is not None]
    found = await visibility.pins(context, ids)
    pins = {id: pin for id, pin in found.items() if isinstance(pin, Pin)}
    return {
        "pin": pins.get(pin_id),
        "above_pin": at.above_id and pins.get(at.above_id),
        "below_pin": at.below_id and pins.get(at.below_id),
        "board": await visibility.board(context, board_id),
        "order_version": str(at.version),
    }

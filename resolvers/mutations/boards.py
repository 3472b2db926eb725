"""Creates, changes and deletes boards, and changes their pins' order."""

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.records import Pin
from feed_engine.ordering import arrange, reorder
from feed_engine.transactions.inputs import BoardChange, NewBoard
from feed_engine.transactions.results import Crossed, Reordered
from feed_engine.writes import boards, move
from resolvers import visibility
from resolvers.context import Context, object_id, optional_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import edge, mutation, problem


@mutation
async def create_board(context: Context, input: inputs.CreateBoard) -> payloads.CreateBoardPayload:
    viewer_id = context.require_viewer()
    draft = NewBoard(name=input.name, description=input.description, secret=input.secret)
    written = await boards.create_board(context.stores, viewer_id, draft, key=input.idempotency_key)
    user = await context.loaders.users.load(viewer_id)
    if not written.board.active:  # deleted since this answer was first given
        return payloads.CreateBoardPayload(user=user)
    entry = edge(context, Mapping.USER_HAS_BOARDS, written.edge, written.board)
    return payloads.CreateBoardPayload(board=written.board, board_edge=entry, user=user)


@mutation
async def update_board(context: Context, input: inputs.UpdateBoard) -> payloads.UpdateBoardPayload:
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
    # The board may be deleted since this answer was first given.
    return payloads.UpdateBoardPayload(board=board if board.active else None)


@mutation
async def delete_board(context: Context, input: inputs.DeleteBoard) -> payloads.DeleteBoardPayload:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    await boards.delete_board(context.stores, viewer_id, board_id, key=input.idempotency_key)
    user = await context.loaders.users.load(viewer_id)
    return payloads.DeleteBoardPayload(deleted_board_id=input.board_id, user=user)


@mutation
async def reorder_pin(context: Context, input: inputs.ReorderPin) -> payloads.ReorderPinPayload:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    before = optional_id(input.before_pin_id, Kind.PIN, argument="beforePinId")
    after = optional_id(input.after_pin_id, Kind.PIN, argument="afterPinId")
    try:
        moved = await reorder.reorder_pin(
            *(context.stores, viewer_id, board_id, pin_id, before, after),
            key=input.idempotency_key,
        )
    except Crossed as error:
        placed = await _placed(context, board_id, pin_id, error)
        placed.errors.append(problem(error))
        return placed
    placed = await _placed(context, board_id, pin_id, moved)
    if placed.pin:
        placed.pin_edge = edge(context, Mapping.BOARD_HAS_PINS, moved.edge, placed.pin)
    return placed


@mutation
async def reorder_pins(context: Context, input: inputs.ReorderPins) -> payloads.ReorderPinsPayload:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    arranged = await arrange.reorder_pins(
        context.stores,
        viewer_id,
        board_id,
        [object_id(id, Kind.PIN, argument="pinIds") for id in input.pin_ids],
        optional_id(input.before_pin_id, Kind.PIN, argument="beforePinId"),
        optional_id(input.after_pin_id, Kind.PIN, argument="afterPinId"),
        key=input.idempotency_key,
    )
    context.forget()
    board = await visibility.board(context, board_id)
    return payloads.ReorderPinsPayload(board=board, order_version=str(arranged))


@mutation
async def move_pin(context: Context, input: inputs.MovePin) -> payloads.MovePinPayload:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    before = optional_id(input.before_pin_id, Kind.PIN, argument="beforePinId")
    after = optional_id(input.after_pin_id, Kind.PIN, argument="afterPinId")
    moved = await move.move_pin(
        *(context.stores, viewer_id, pin_id, board_id, before, after),
        key=input.idempotency_key,
    )
    placed = await _placed(context, board_id, pin_id, moved.placed)
    pin, left = placed.pin, moved.from_id != board_id
    return payloads.MovePinPayload(
        pin=pin,
        pin_edge=edge(context, Mapping.BOARD_HAS_PINS, moved.placed.edge, pin) if pin else None,
        above_pin=placed.above_pin,
        below_pin=placed.below_pin,
        from_board=await visibility.board(context, moved.from_id),
        to_board=placed.board,
        removed_pin_id=input.pin_id if left else None,
        from_order_version=str(moved.from_version),
        to_order_version=placed.order_version,
        feed_token=context.feed_tokens.of(moved.placed.edge) if left else None,
    )


async def _placed(
    context: Context, board_id: int, pin_id: int, at: Reordered | Crossed
) -> payloads.ReorderPinPayload:
    """A pin's place, in the form that a client's cache needs, without its edge."""
    context.forget()
    ids = [id for id in (pin_id, at.above_id, at.below_id) if id is not None]
    found = await visibility.pins(context, ids)
    pins = {id: pin for id, pin in found.items() if isinstance(pin, Pin)}
    return payloads.ReorderPinPayload(
        pin=pins.get(pin_id),
        above_pin=pins.get(at.above_id) if at.above_id else None,
        below_pin=pins.get(at.below_id) if at.below_id else None,
        board=await visibility.board(context, board_id),
        order_version=str(at.version),
    )

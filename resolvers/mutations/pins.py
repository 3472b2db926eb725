"""Creates, changes, deletes and repins pins, and comments on them."""

from msgspec import UNSET

from datasources.ids import Kind
from datasources.mappings import Mapping
from feed_engine.transactions.inputs import NewComment, NewPin, PinChange
from feed_engine.transactions.results import PinWritten
from feed_engine.writes import comments, pins
from resolvers import visibility
from resolvers.context import Context, object_id, optional_id
from resolvers.mutations import inputs, payloads
from resolvers.mutations.images import stored_image
from resolvers.payloads import edge, mutation


async def _saved(context: Context, written: PinWritten) -> payloads.SavedPinPayload:
    context.forget()
    board = await visibility.board(context, written.pin.board_id)
    # with a repeated answer, the pin may be gone, or its section
    pin, in_section = await visibility.pin(context, written.pin.id), written.section_edge
    section_id = written.pin.section_id if in_section else None
    section = await visibility.section(context, section_id) if section_id else None
    return payloads.SavedPinPayload(
        pin=pin,
        pin_edge=edge(context, Mapping.BOARD_HAS_PINS, written.edge, pin) if pin else None,
        section_edge=edge(context, Mapping.SECTION_HAS_PINS, in_section, pin)
        if pin and section and in_section
        else None,
        board=board,
        feed_token=context.feed_tokens.of(written.edge),
    )


def _section_id(text: str | None) -> int | None:
    return optional_id(text, Kind.SECTION, argument="sectionId")


@mutation
async def create_pin(context: Context, input: inputs.CreatePin) -> payloads.SavedPinPayload:
    viewer_id = context.require_viewer()
    draft = NewPin(
        board_id=object_id(input.board_id, Kind.BOARD, argument="boardId"),
        title=input.title,
        description=input.description,
        link=input.link,
        image=stored_image(input.image),
        interest_ids=tuple(
            object_id(id, Kind.INTEREST, argument="interestIds") for id in input.interest_ids
        ),
        section_id=_section_id(input.section_id) or UNSET,
    )
    written = await pins.create_pin(context.stores, viewer_id, draft, key=input.idempotency_key)
    return await _saved(context, written)


@mutation
async def repin(context: Context, input: inputs.Repin) -> payloads.SavedPinPayload:
    written = await pins.repin(
        context.stores,
        context.require_viewer(),
        object_id(input.pin_id, Kind.PIN, argument="pinId"),
        object_id(input.board_id, Kind.BOARD, argument="boardId"),
        _section_id(input.section_id),
        key=input.idempotency_key,
    )
    return await _saved(context, written)


@mutation
async def update_pin(context: Context, input: inputs.UpdatePin) -> payloads.UpdatePinPayload:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    given = input.given()
    if "image" in given:
        given["image"] = stored_image(given["image"])
    if given.get("interest_ids"):
        given["interest_ids"] = tuple(
            object_id(id, Kind.INTEREST, argument="interestIds") for id in given["interest_ids"]
        )
    change = PinChange(**given)
    pin = await pins.update_pin(
        context.stores, viewer_id, pin_id, change, key=input.idempotency_key
    )
    # The pin may be deleted since this answer was first given.
    return payloads.UpdatePinPayload(pin=pin if pin.active else None)


@mutation
async def delete_pin(context: Context, input: inputs.DeletePin) -> payloads.DeletePinPayload:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    pin = await pins.delete_pin(context.stores, viewer_id, pin_id, key=input.idempotency_key)
    board = await visibility.board(context, pin.board_id)
    return payloads.DeletePinPayload(deleted_pin_id=input.pin_id, board=board)


@mutation
async def create_comment(
    context: Context, input: inputs.CreateComment
) -> payloads.CreateCommentPayload:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    draft = NewComment(pin_id=pin_id, text=input.text)
    written = await comments.create_comment(
        context.stores, viewer_id, draft, key=input.idempotency_key
    )
    pin, comment = await visibility.pin(context, pin_id), written.comment
    if pin is None or not comment.active:  # deleted since this answer was first given
        return payloads.CreateCommentPayload(pin=pin)
    entry = edge(context, Mapping.PIN_HAS_COMMENTS, written.edge, comment)
    return payloads.CreateCommentPayload(comment=comment, comment_edge=entry, pin=pin)


@mutation
async def delete_comment(
    context: Context, input: inputs.DeleteComment
) -> payloads.DeleteCommentPayload:
    comment_id = object_id(input.comment_id, Kind.COMMENT, argument="commentId")
    comment = await comments.delete_comment(
        context.stores, context.require_viewer(), comment_id, key=input.idempotency_key
    )
    pin = await visibility.pin(context, comment.pin_id)
    return payloads.DeleteCommentPayload(deleted_comment_id=input.comment_id, pin=pin)

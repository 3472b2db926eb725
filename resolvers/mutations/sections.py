"""Creates, renames, reorders and deletes sections of boards, and moves pins into them."""

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.records import Pin, Section
from feed_engine.transactions.inputs import NewSection
from feed_engine.transactions.results import Crossed, Reordered
from feed_engine.writes import sections
from resolvers import visibility
from resolvers.context import Context, object_id, optional_id
from resolvers.mutations import inputs, payloads
from resolvers.payloads import edge, mutation, problem


@mutation
async def create_section(
    context: Context, input: inputs.CreateSection
) -> payloads.CreateSectionPayload:
    viewer_id = context.require_viewer()
    board_id = object_id(input.board_id, Kind.BOARD, argument="boardId")
    draft = NewSection(board_id=board_id, name=input.name)
    written = await sections.create_section(
        context.stores, viewer_id, draft, key=input.idempotency_key
    )
    context.forget()
    board = await visibility.board(context, board_id)
    # with a repeated answer, the section may be gone
    section = await visibility.section(context, written.section.id)
    return payloads.CreateSectionPayload(
        section=section,
        section_edge=edge(context, Mapping.BOARD_HAS_SECTIONS, written.edge, section)
        if section
        else None,
        board=board,
    )


@mutation
async def rename_section(
    context: Context, input: inputs.RenameSection
) -> payloads.RenameSectionPayload:
    viewer_id = context.require_viewer()
    section_id = object_id(input.section_id, Kind.SECTION, argument="sectionId")
    section = await sections.rename_section(
        context.stores, viewer_id, section_id, input.name, key=input.idempotency_key
    )
    # The section may be deleted since this answer was first given.
    return payloads.RenameSectionPayload(section=section if section.active else None)


@mutation
async def reorder_section(
    context: Context, input: inputs.ReorderSection
) -> payloads.ReorderSectionPayload:
    viewer_id = context.require_viewer()
    section_id = object_id(input.section_id, Kind.SECTION, argument="sectionId")
    before = optional_id(input.before_section_id, Kind.SECTION, argument="beforeSectionId")
    after = optional_id(input.after_section_id, Kind.SECTION, argument="afterSectionId")
    try:
        moved = await sections.reorder_section(
            *(context.stores, viewer_id, section_id, before, after), key=input.idempotency_key
        )
    except Crossed as error:
        placed = await _placed_section(context, section_id, error)
        placed.errors.append(problem(error))
        return placed
    placed = await _placed_section(context, section_id, moved.placed)
    if placed.section:
        place = moved.placed.edge
        placed.section_edge = edge(context, Mapping.BOARD_HAS_SECTIONS, place, placed.section)
    return placed


@mutation
async def delete_section(
    context: Context, input: inputs.DeleteSection
) -> payloads.DeleteSectionPayload:
    viewer_id = context.require_viewer()
    section_id = object_id(input.section_id, Kind.SECTION, argument="sectionId")
    section = await sections.delete_section(
        context.stores, viewer_id, section_id, key=input.idempotency_key
    )
    board = await visibility.board(context, section.board_id)
    return payloads.DeleteSectionPayload(deleted_section_id=input.section_id, board=board)


@mutation
async def move_pin_to_section(
    context: Context, input: inputs.MovePinToSection
) -> payloads.MovePinToSectionPayload:
    viewer_id = context.require_viewer()
    pin_id = object_id(input.pin_id, Kind.PIN, argument="pinId")
    section_id = optional_id(input.section_id, Kind.SECTION, argument="sectionId")
    before = optional_id(input.before_pin_id, Kind.PIN, argument="beforePinId")
    after = optional_id(input.after_pin_id, Kind.PIN, argument="afterPinId")
    moved = await sections.move_pin_to_section(
        *(context.stores, viewer_id, pin_id, section_id, before, after), key=input.idempotency_key
    )
    context.forget()
    at = moved.placed
    around = [at.above_id, at.below_id] if at is not None else []
    found = await visibility.pins(context, [id for id in (pin_id, *around) if id is not None])
    pins = {id: pin for id, pin in found.items() if isinstance(pin, Pin)}
    ends = await visibility.sections(context, [id for id in (moved.from_id, section_id) if id])
    shown = {id: it for id, it in ends.items() if isinstance(it, Section)}
    pin = pins.get(pin_id)
    # with a repeated answer, the section may be gone
    return payloads.MovePinToSectionPayload(
        pin=pin,
        pin_edge=edge(context, Mapping.SECTION_HAS_PINS, at.edge, pin)
        if at is not None and pin and section_id in shown
        else None,
        above_pin=pins.get(at.above_id or 0) if at is not None else None,
        below_pin=pins.get(at.below_id or 0) if at is not None else None,
        from_section=shown.get(moved.from_id or 0),
        to_section=shown.get(section_id or 0),
        removed_pin_id=input.pin_id if moved.from_id not in (None, section_id) else None,
    )


async def _placed_section(
    context: Context, section_id: int, at: Reordered | Crossed
) -> payloads.ReorderSectionPayload:
    """A section's place, in the form that a client's cache needs, without its edge."""
    context.forget()
    ids = [id for id in (section_id, at.above_id, at.below_id) if id is not None]
    found = await visibility.sections(context, ids)
    shown = {id: it for id, it in found.items() if isinstance(it, Section)}
    section = shown.get(section_id)
    board = await visibility.board(context, section.board_id) if section else None
    return payloads.ReorderSectionPayload(
        section=section,
        above_section=shown.get(at.above_id or 0),
        below_section=shown.get(at.below_id or 0),
        board=board,
    )

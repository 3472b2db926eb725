"""The sections of boards, and the pins in them."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from datasources.mappings import Mapping
from datasources.records import Board, Pin, Section
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of, sizes
from resolvers.context import Context
from resolvers.orders import PinOrder, pin_pages
from resolvers.paging import FIRST, Pages, list_pages, show_on, span


@bulk
async def board(context: Context, sections: Sequence[Section]) -> Column[Board | None]:
    found = await visibility.boards(context, [section.board_id for section in sections])
    return [found.get(section.board_id) for section in sections]


@bulk
async def on_board(
    context: Context,
    boards: Sequence[Board],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Pages[Section]:
    lists, part = lists_of(Mapping.BOARD_HAS_SECTIONS, boards), span(first, after, last, before)
    return await list_pages(context, lists, part, visibility.sections)


@bulk
async def pins(
    context: Context,
    sections: Sequence[Section],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: PinOrder | None = None,
) -> Pages[Pin]:
    lists = lists_of(Mapping.SECTION_HAS_PINS, sections)
    pages = await pin_pages(context, lists, span(first, after, last, before), order_by)
    return show_on(pages, sections, _in)


P = TypeVar("P", Pin, Pin | BaseException)


def _in(section: Section, pin: P) -> P:
    """A pin from the section's list: the list decides in which section it is shown, as with
    boards."""
    if not isinstance(pin, Pin) or pin.section_id == section.id:
        return pin
    return msgspec.structs.replace(pin, board_id=section.board_id, section_id=section.id)


@bulk
async def pin_count(context: Context, sections: Sequence[Section]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.SECTION_HAS_PINS, sections))

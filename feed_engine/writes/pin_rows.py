"""The mapping rows of a pin: its place on the board, and the rows elsewhere that depend on it.

A dependent row's version is the version of the pin's row on its board plus the board's `flips`.
Both numbers grow under the board's lock and never shrink. When a pin comes to another board, the
version of its row there is chosen so that the sum grows, too. So of two writes or jobs that saw
different states, the later state remains, whatever their order.
"""

from collections.abc import Iterable

from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.records import Board, Pin
from feed_engine.outbox.change import PinPublished
from feed_engine.transactions.commit import Rows


def is_public(pin: Pin, board: Board) -> bool:
    """Whether lists that everybody may see have the pin."""
    return pin.active and board.active and not board.secret


async def put_owned(rows: Rows, pin: Pin, board: Board, placed: Edge) -> None:
    """Write the pin's row in its owner's list. `placed` is its row on the board."""
    await rows.put(Mapping.USER_HAS_PINS, _row(pin.owner_id, pin, board, placed, pin.active))


async def put_public(
    rows: Rows, pin: Pin, board: Board, placed: Edge, *, left: Iterable[int] = ()
) -> None:
    """Write the pin's rows in its owner's list of public pins and in its interests' lists. `left`
    are interests that the pin had before."""
    public = is_public(pin, board)
    await rows.put(Mapping.USER_HAS_PUBLIC_PINS, _row(pin.owner_id, pin, board, placed, public))
    for interest_id in pin.interest_ids:
        await rows.put(Mapping.INTEREST_HAS_PINS, _row(interest_id, pin, board, placed, public))
    for interest_id in left:
        await rows.put(Mapping.INTEREST_HAS_PINS, _row(interest_id, pin, board, placed, False))


def published(pin: Pin, *, at: int = 0) -> PinPublished:
    """The task that brings the pin into feeds. `at` is when the pin became public or got an
    interest, if that was after its creation."""
    return PinPublished(
        pin_id=pin.id,
        board_id=pin.board_id,
        owner_id=pin.owner_id,
        interest_ids=pin.interest_ids,
        created=pin.created,
        at=at,
    )


def _row(from_id: int, pin: Pin, board: Board, placed: Edge, active: bool) -> Edge:
    version = placed.version + board.flips
    return Edge(from_id, pin.id, pin.created * SEQUENCE_STEP, version, active)

"""Arithmetic on the sequences that order a board's pins: whole numbers of up to 38 digits.

A new pin's sequence is its epoch milliseconds followed by 25 zeros. A moved pin takes the midpoint
of its new neighbors' sequences. All arithmetic uses `int`: a decimal of 28 digits or a double would
round a midpoint out of its gap.
"""

from bisect import bisect_left
from collections.abc import Iterable

from datasources.mappings import MAX_SEQUENCE, SEQUENCE_STEP, Respacing

HIGHEST = MAX_SEQUENCE  # 0 stays free below every row


def top(now_ms: int, highest: int | None) -> int:
    """A sequence above every row's: the current time, or the next whole millisecond above the
    highest row (another pin of the same millisecond, a pin moved to the top, a clock that was set
    back)."""
    now = now_ms * SEQUENCE_STEP
    return now if highest is None else max(now, (highest // SEQUENCE_STEP + 1) * SEQUENCE_STEP)


def bottom(lowest: int) -> int | None:
    """A sequence below every row's: the next whole millisecond down while one is left, then the
    middle of the numbers left above 0. None if none is left."""
    step = (lowest - 1) // SEQUENCE_STEP * SEQUENCE_STEP
    return step if step > 0 else bisect(0, lowest)


def bisect(lower: int, upper: int) -> int | None:
    """The midpoint strictly between two sequences, or None when there is no room."""
    return (lower + upper) // 2 if upper - lower >= 2 else None


def bisections(lower: int, upper: int) -> int:
    """How many more times the gap can certainly be bisected, whichever half is taken each time:
    floor(log2(gap)). For a gap of a millisecond, 83."""
    return max(upper - lower, 1).bit_length() - 1


def translate(sequence: int, respacings: Iterable[Respacing]) -> int:
    """The position of a place after respacings. Rows below the place stay below it, a row at the
    place stays at it, and rows above stay above."""
    return translated(sequence, respacings)[0]


def translated(sequence: int, respacings: Iterable[Respacing]) -> tuple[int, bool]:
    """The position of a place after respacings, as `translate` returns it, and whether the place's
    own row may be there. If not, that row is gone, and the row at the position, if there is one, is
    the next row above the place."""
    own = True
    for respacing in respacings:
        moves = respacing.moves
        if not moves:
            continue
        at = bisect_left(moves, (sequence, 0))
        if at == len(moves):
            moved = max(sequence, moves[-1][1] + 1)
            own = own and moved == sequence
        elif sequence < moves[at][0]:
            moved = min(sequence, moves[0][1]) if at == 0 else moves[at][1]
            own = own and moved == sequence
        else:
            moved = moves[at][1]
        sequence = moved
    return sequence, own

"""Arithmetic on the sequences that order a board's pins: whole numbers of up to 38 digits.

A new pin's sequence is its epoch milliseconds followed by 25 zeros; a moved pin takes the midpoint
of its new neighbours. All of it is done on `int`: a decimal of 28 digits or a double would round
a midpoint out of its gap.
"""

from bisect import bisect_left
from collections.abc import Iterable

from datasources.mappings import SEQUENCE_STEP, Respacing

HIGHEST = 10**38 - 1  # 38 digits is what the column holds; 0 is kept below every row


def top(now_ms: int, highest: int | None) -> int:
    """A sequence above every row's: the time, or the next whole step if a row is that high already
    (another pin of the same millisecond, a pin moved to the top, a clock that stepped back)."""
    now = now_ms * SEQUENCE_STEP
    return now if highest is None else max(now, (highest // SEQUENCE_STEP + 1) * SEQUENCE_STEP)


def bottom(lowest: int) -> int | None:
    """A sequence below every row's: the next whole step down while there is one, then the middle
    of what is left above 0. None when nothing is left."""
    step = (lowest - 1) // SEQUENCE_STEP * SEQUENCE_STEP
    return step if step > 0 else bisect(0, lowest)


def bisect(lower: int, upper: int) -> int | None:
    """The midpoint strictly between two sequences, or None when there is no room."""
    return (lower + upper) // 2 if upper - lower >= 2 else None


def bisections(lower: int, upper: int) -> int:
    """How many more times the gap can be bisected for certain, whichever half is taken each time:
    floor(log2(gap)), so 83 for a millisecond's."""
    return max(upper - lower, 1).bit_length() - 1


def spread(lower: int, upper: int, count: int) -> list[int] | None:
    """`count` ascending sequences strictly between two, as evenly as whole numbers allow, or None
    when they don't fit."""
    gap = upper - lower
    if gap <= count:
        return None
    return [lower + gap * place // (count + 1) for place in range(1, count + 1)]


def translate(sequence: int, respacings: Iterable[Respacing]) -> int:
    """Where a place is after re-spacings: of the rows that were moved, those that were below it are
    below it still, the row at it is at it, and the same holds for all other rows."""
    for respacing in respacings:
        moves = respacing.moves
        at = bisect_left(moves, (sequence, 0))
        if at == len(moves):
            sequence = max(sequence, moves[-1][1] + 1) if moves else sequence
        elif at == 0 and sequence < moves[0][0]:
            sequence = min(sequence, moves[0][1])
        else:
            sequence = moves[at][1]
    return sequence


def widened(lower: int, upper: int, below: int, above: int) -> list[int]:
    """Ascending sequences strictly between two for `below` rows, a wide gap, and `above` rows: the
    rows share half of the room evenly, the other half is around the topmost of those below, where
    the next are likely to come."""
    count, room = below + above, upper - lower
    shared = room - room // 2
    wide = room // 2
    extra = [0] * max(below - 1, 0) + [wide // 2] * min(below, 1) + [wide] * above
    return [
        lower + shared * place // (count + 1) + more
        for place, more in zip(range(1, count + 1), extra, strict=True)
    ]

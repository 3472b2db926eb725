"""The order of related pins, in which no board fills a page."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

WINDOW = 25  # neighboring entries, a page of the home feed
FROM_ONE_BOARD = 4  # entries of a window that are from one board, at most


def spread(
    found: Iterable[T],
    board_of: Callable[[T], int],
    *,
    window: int = WINDOW,
    most: int = FROM_ONE_BOARD,
) -> Sequence[T]:
    """The entries in their order, except that an entry whose board has `most` of the last `window`
    entries comes later. An entry for which no place is left is left out. Any `window` neighboring
    entries have at most `most` of one board."""
    waiting, placed = list(found), list[T]()
    last, counts = deque[int](), Counter[int]()
    while waiting:
        at = next((n for n, it in enumerate(waiting) if counts[board_of(it)] < most), None)
        if at is None:
            return placed
        placed.append(waiting.pop(at))
        board = board_of(placed[-1])
        last.append(board)
        counts[board] += 1
        if len(last) == window:
            counts[last.popleft()] -= 1
    return placed

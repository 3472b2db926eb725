"""Where generated worlds and operations get their choices from: one interface for the fast
seeded generator, for hypothesis (which then shrinks), and for the replay of recorded choices."""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class Draw:
    """Choices out of anything that has `randrange`: smaller numbers mean simpler things."""

    def __init__(self, source: Random) -> None:
        self._randrange = source.randrange

    def below(self, count: int) -> int:
        return self._randrange(count)

    def chance(self, percent: int) -> bool:
        """Whether; False is the simpler choice."""
        return self.below(100) >= 100 - percent

    def pick(self, things: Sequence[T]) -> T:
        """Pick an option; the first is the simplest."""
        return things[self.below(len(things))]

    def some(self, things: Sequence[T], least: int = 0) -> list[T]:
        """Pick some of the options, in their order."""
        wanted = least + self.below(len(things) - least + 1)
        left = list(range(len(things)))
        chosen = sorted(left.pop(self.below(len(left))) for _ in range(wanted))
        return [things[index] for index in chosen]


class Seeded(Draw):
    def __init__(self, seed: str) -> None:
        super().__init__(Random(seed))


class Recorded(Draw):
    """Replays choices, then zeros; `made` is what was asked for, in order."""

    def __init__(self, choices: Sequence[int], source: Random | None = None) -> None:
        self._choices, self._source = choices, source
        self.made: list[int] = []

    def below(self, count: int) -> int:
        at = len(self.made)
        if at < len(self._choices):
            value = min(self._choices[at], count - 1)
        else:
            value = self._source.randrange(count) if self._source else 0
        self.made.append(value)
        return value


def shrunk(choices: list[int], fails: Callable[[list[int]], Any], seconds: float) -> list[int]:
    """Choices, fewer and smaller, for which `fails` still holds."""
    best = choices
    ends = time.monotonic() + seconds

    def better(candidate: list[int]) -> bool:
        nonlocal best
        if time.monotonic() < ends and candidate != best and fails(candidate):
            best = candidate
            return True
        return False

    improved = True
    while improved and time.monotonic() < ends:
        improved = False
        size = max(1, len(best) // 2)
        while size:
            at = len(best) - size
            while at >= 0:
                improved |= better(best[:at] + best[at + size :])
                at -= size
            size //= 2
        for at in range(len(best) - 1, -1, -1):
            if (
                at < len(best)
                and best[at]
                and (
                    better([*best[:at], 0, *best[at + 1 :]])
                    or better([*best[:at], best[at] // 2, *best[at + 1 :]])
                    or better([*best[:at], best[at] - 1, *best[at + 1 :]])
                )
            ):
                improved = True
    return best

"""The source of random choices for generated worlds and operations. One interface serves a fast
seeded generator, hypothesis (which shrinks failing cases), and the replay of recorded choices."""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class Draw:
    """Makes choices with an object that has `randrange`. Smaller numbers give simpler cases."""

    def __init__(self, source: Random) -> None:
        self._randrange = source.randrange

    def below(self, count: int) -> int:
        return self._randrange(count)

    def chance(self, percent: int) -> bool:
        """Returns True with this chance, in percent. False is the simpler choice."""
        return self.below(100) >= 100 - percent

    def pick(self, things: Sequence[T]) -> T:
        """Pick an option; the first is the simplest."""
        return things[self.below(len(things))]

    def some(self, things: Sequence[T], least: int = 0) -> list[T]:
        """Pick some of the options, and keep their order."""
        wanted = least + self.below(len(things) - least + 1)
        left = list(range(len(things)))
        chosen = sorted(left.pop(self.below(len(left))) for _ in range(wanted))
        return [things[index] for index in chosen]


class Seeded(Draw):
    def __init__(self, seed: str) -> None:
        super().__init__(Random(seed))


class Recorded(Draw):
    """Replays recorded choices, and then returns zeros. `made` records the choices that were
    requested, in order."""

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
    """Returns fewer and smaller choices for which `fails` is still true."""
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

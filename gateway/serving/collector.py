"""Python's garbage collector in short passes: what lives long is left out of them.

A full pass looks at every object that may be part of a cycle, and nothing else runs meanwhile: for
a gateway's modules, schema and compiled operations that is 30 to 100 ms, every thousand requests or
so. Here what a full pass has found alive is frozen (`gc.freeze`), so that the next one looks at
what came since. Objects that are let go of are freed as ever; cycles among the frozen are found
when these have doubled in number since they were looked at last. So garbage is never more than what
is in use, and long passes are the rarer the longer they are.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LEAST = 50_000
"""Frozen objects that are never looked at again for their number alone."""
OFTEN = 2
"""Passes over the middle generation to one over all: what came since is then little."""


@contextmanager
def short_passes(least: int = LEAST) -> Iterator[None]:
    """Have short passes; when it ends, the collector is as it was."""
    thresholds = gc.get_threshold()
    frozen = _Frozen(least)
    gc.collect()
    frozen.begin()
    gc.set_threshold(*thresholds[:2], OFTEN)
    gc.callbacks.append(frozen.after)
    try:
        yield
    finally:
        gc.callbacks.remove(frozen.after)
        gc.set_threshold(*thresholds)
        gc.unfreeze()


class _Frozen:
    """Freezes what full passes leave."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._count = self._looked_at = 0
        """How many there are, at most, and how many there were when all were looked at."""
        self._all = False
        """Whether the next full pass looks at them too."""

    def begin(self) -> None:
        gc.freeze()
        self._count = self._looked_at = max(gc.get_freeze_count(), self._least)

    def after(self, phase: str, info: dict[str, Any]) -> None:
        """Called by the collector before and after each of its passes, in any thread."""
        if phase != "stop" or info["generation"] != 2:
            return
        if self._all:
            self._all = False
            self.begin()
            return
        self._count += len(gc.get_objects(generation=2))
        gc.freeze()
        if self._count > 2 * self._looked_at:  # many of them may be freed by now
            self._count = max(gc.get_freeze_count(), self._looked_at)
        if self._count > 2 * self._looked_at:
            gc.unfreeze()
            self._all = True

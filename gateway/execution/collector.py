"""Runs Python's garbage collector in short passes: long-lived objects are excluded from collection.

A full pass visits every object that may be part of a cycle, and stops the gateway in the meantime:
for a gateway's modules, schema and compiled operations, 30 to 100 ms about every thousand requests.
Here, objects that survive two passes are frozen (`gc.freeze`), so that each pass visits recent
objects only. Python still frees objects without references at once. Garbage in cycles of frozen
objects is found when the memory in use has stayed doubled for a while: then one pass visits all
objects. So there is never more garbage than memory in use, and long passes are rare.

Python 3.14.0 to 3.14.4 have an incremental collector, which 3.14.5 removed. It visits a part of the
old objects in each pass, and reports each pass as one over generation 1. So this module can't tell
survivors of two passes from new garbage, and freezes objects once, at the start.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

THRESHOLDS = (10_000, 1, 1)
"""New objects for each pass, and passes of a generation for each pass of the next. Requests in
flight usually have fewer objects, so their objects are freed before a pass. A pass takes about a
millisecond, or a few if much is garbage."""
INTERVAL = 1.0
"""Seconds between two measurements of the memory in use. A measurement takes longer with more
memory."""
PATIENCE = 30.0
"""Seconds for which memory stays doubled before a full pass. The memory of one huge response is
freed sooner."""


INCREMENTAL = (3, 14) <= sys.version_info < (3, 14, 5)
"""Whether the interpreter's collector is incremental."""

_short = 0
_LOCK = Lock()
_blocks = 0
"""The number of `no_passes` blocks that are running."""
_enabled = False
"""Whether the collector was enabled before the first of these blocks."""
_middle = 0
"""The number of objects that `_collect` moved to the middle generation, at most."""


def set_aside() -> None:
    """If short passes are used, exclude all present objects from collection: a pass that meets a
    list of 200,000 objects visits each object."""
    if _short:
        gc.freeze()


@contextmanager
def lasting() -> Iterator[None]:
    """Run the block without passes, and exclude all objects from later passes. For imports: modules
    stay, and the first full pass over them would take a tenth of a second."""
    with no_passes():
        yield
        gc.freeze()


@contextmanager
def no_passes(*, collect: bool = False) -> Iterator[None]:
    """Disable the collector in the block, because a pass would freeze cycles that the block makes
    and leaves. Blocks of several threads may overlap. With `collect`, the block's garbage is
    collected at its end."""
    global _blocks, _enabled
    with _LOCK:
        if not _blocks:
            _enabled = gc.isenabled()
            gc.disable()
        _blocks += 1
    try:
        yield
    finally:
        with _LOCK:
            _blocks -= 1
            if not _blocks and _enabled:
                gc.enable()
        if collect and _enabled:
            _collect()


def _collect() -> None:
    """Collect the youngest generation. Its objects that are in use go to the middle one, where they
    would wait for one long pass: collect the middle one before it has many."""
    # `gc.get_objects` would count them exactly, but it refers to each object, in a thread. A tuple
    # that another thread is filling must have one reference: CPython raises SystemError in
    # `tuple(generator)` if it has more.
    global _middle
    _middle += max(0, gc.get_count()[0] - gc.collect(0))
    if _middle > THRESHOLDS[0]:
        _middle = 0
        gc.collect(1)


@contextmanager
def short_passes(
    *,
    in_use: Callable[[], int] = sys.getallocatedblocks,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Use short passes inside the block; restore the collector's settings afterwards."""
    if INCREMENTAL:
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            gc.unfreeze()
        return
    thresholds = gc.get_threshold()
    global _short
    frozen = _Frozen(in_use, clock)
    gc.collect()
    frozen.begin()
    # finds nothing; without it, a full pass waits for a quarter of what the last one left
    gc.collect()
    gc.set_threshold(*THRESHOLDS)
    gc.callbacks.append(frozen.after)
    _short += 1
    try:
        yield
    finally:
        _short -= 1
        gc.callbacks.remove(frozen.after)
        gc.set_threshold(*thresholds)
        gc.unfreeze()


class _Frozen:
    """Freezes the objects that survive passes over the older generations."""

    def __init__(self, in_use: Callable[[], int], clock: Callable[[], float]) -> None:
        self._in_use, self._clock = in_use, clock
        self._base = 0
        """The memory in use at the last full pass."""
        self._looked = float("-inf")
        """The time of the last measurement of the memory in use."""
        self._doubled: float | None = None
        """The time since which the memory in use is more than twice `_base`; None if it is not."""
        self._all = False
        """Whether the next full pass visits frozen objects, too."""

    def begin(self) -> None:
        gc.freeze()
        self._base, self._doubled, self._all = self._in_use(), None, False

    def after(self, phase: str, info: dict[str, Any]) -> None:
        """Called by the collector before and after each of its passes, in any thread."""
        if phase != "stop" or info["generation"] == 0:
            return
        if self._all:
            if info["generation"] == 2:
                self.begin()
            return
        gc.freeze()
        now = self._clock()
        if now - self._looked < INTERVAL:
            return
        self._looked = now
        if self._in_use() <= 2 * self._base:
            self._doubled = None
        elif self._doubled is None:
            self._doubled = now
        elif now - self._doubled >= PATIENCE:
            gc.unfreeze()
            self._all = True

"""Chooses the compiled stepper of coroutines (`stepped_in_c`) or the Python one (`stepped`)."""

from loaders.compiled import WANTED

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.tasks.stepped_in_c import SteppedTask, start_all
except ImportError:  # not built, or PINWAY_COMPILED=0
    from gateway.execution.tasks.stepped import SteppedTask, start_all

__all__ = ["SteppedTask", "start_all"]

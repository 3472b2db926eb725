"""The stepper of coroutines: compiled code where it was built, else the same in Python."""

from loaders.compiled import WANTED

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.tasks.stepped_in_c import SteppedTask, start_all
except ImportError:  # there was no compiler, or it isn't wanted
    from gateway.execution.tasks.stepped import SteppedTask, start_all

__all__ = ["SteppedTask", "start_all"]

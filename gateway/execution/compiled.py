"""What there is as compiled code: that, where it was built, or else what stands in for it."""

from loaders.compiled import WANTED

try:
    if not WANTED:
        raise ImportError
    from gateway.execution import written
    from gateway.execution.driven import Steps, start_all
except ImportError:  # there was no compiler, or it isn't wanted
    from gateway.execution.steps import Steps, start_all

    written = None  # type: ignore[assignment]

__all__ = ["Steps", "start_all", "written"]

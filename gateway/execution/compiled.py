"""What there is as compiled code: that, where it was built, or else what stands in for it.

PINWAY_COMPILED=0 in the environment does without it.
"""

import os

try:
    if os.environ.get("PINWAY_COMPILED") == "0":
        raise ImportError
    from gateway.execution import written
    from gateway.execution.driven import Column, Steps, start_all
except ImportError:  # there was no compiler, or it isn't wanted
    from gateway.execution.steps import Column, Steps, start_all

    written = None  # type: ignore[assignment]

__all__ = ["Column", "Steps", "start_all", "written"]

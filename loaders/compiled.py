"""What there is as compiled code: that, where it was built, or else what stands in for it.

PINWAY_COMPILED=0 in the environment does without it.
"""

import os

try:
    if os.environ.get("PINWAY_COMPILED") == "0":
        raise ImportError
    from loaders.promised import Singles, place
except ImportError:  # there was no compiler, or it isn't wanted
    from loaders.singles import Singles, place

__all__ = ["Singles", "place"]

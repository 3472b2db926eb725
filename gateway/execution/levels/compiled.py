"""The compiled reader of leaves and writer of tables, if compiled modules are used."""

from loaders.compiled import WANTED

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.levels import json_writer
except ImportError:  # not built, or PINWAY_COMPILED=0
    json_writer = None  # type: ignore[assignment]

BUILT: bool = json_writer is not None
"""Whether compiled code reads leaves and writes tables."""

__all__ = ["BUILT", "json_writer"]

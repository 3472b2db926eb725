"""The form of a kept payload: a value, its bytes, and its reader."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Kept(NamedTuple):
    """A value, the bytes that this version writes for it (None: only older versions wrote this
    form), and the function that reads the bytes."""

    value: Any
    written: bytes | None
    read: Callable[[bytes], Any]

"""How operations on servers report their steps."""

from collections.abc import Callable

Tell = Callable[[str], None]
"""Receives a line for people about each step."""
Progress = Callable[[int, int], None]
"""Called with (done, all) parts of a step: shards, or tables."""

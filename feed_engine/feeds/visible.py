"""The interface by which a feed asks its caller which pins the viewer may see now."""

from collections.abc import Awaitable, Callable

from datasources.records import Pin

Visible = Callable[[list[int]], Awaitable[dict[int, Pin]]]
"""Takes pin ids. Returns the pins among them that exist, are active, and may be shown to the
viewer."""

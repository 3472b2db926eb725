"""A setting's value with the place that set it."""

from typing import Any, NamedTuple


class Given(NamedTuple):
    """A value, and the place that set it, as text."""

    value: Any
    place: str


Values = dict[str, Given]
"""The values of settings, by full names, such as `http.port`."""

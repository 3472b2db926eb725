"""The server's variables with which its binary log can be read."""

from collections.abc import Iterable, Mapping
from typing import Any

RIGHT = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "log_bin_compress": "OFF",
}
ASK = (
    "SHOW GLOBAL VARIABLES WHERE variable_name IN "
    f"({', '.join(repr(variable) for variable in RIGHT)})"
)
"""The statement that asks a server for them."""


def decoded(rows: Iterable[tuple[Any, ...]]) -> dict[str, str]:
    """The values by variable, from the rows of `ASK`."""
    return {name.decode(): value.decode() for name, value in rows}


def faults(values: Mapping[str, str]) -> list[str]:
    """Why the log of a server with these values can't be read; none if it can."""
    found = {name: value.upper() for name, value in values.items()}
    return [
        f"{name} is {found[name]}: it must be {right}"
        for name, right in RIGHT.items()
        if found.get(name, right) != right
    ]

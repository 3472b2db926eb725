"""Conditions on primary keys of several columns, written so that MariaDB reads a range of the key.

For `(a, b) > (x, y)`, MariaDB would read the index from its beginning.
"""

from collections.abc import Sequence

Key = Sequence[object]
Condition = tuple[str, list[object]]
"""The text with `%s`, and its arguments."""


def above(columns: Sequence[str], key: Key) -> Condition:
    """Rows after a key."""
    return _beyond(columns, key, ">", ">")


def up_to(columns: Sequence[str], key: Key) -> Condition:
    """Rows up to and including a key."""
    return _beyond(columns, key, "<", "<=")


def between(columns: Sequence[str], after: Key | None, last: Key | None) -> Condition:
    """Rows after a key (None: from the first row), up to and including another key (None: to the
    last row)."""
    found = []
    if after is not None:
        found.append(above(columns, after))
    if last is not None:
        found.append(up_to(columns, last))
    text = " AND ".join(text for text, _ in found) or "TRUE"
    return text, [value for _, args in found for value in args]


def _beyond(columns: Sequence[str], key: Key, order: str, at_last: str) -> Condition:
    column, *others = columns
    value, *rest = key
    if not others:
        return f"{column} {at_last} %s", [value]
    text, args = _beyond(others, rest, order, at_last)
    return f"({column} {order} %s OR ({column} = %s AND {text}))", [value, value, *args]

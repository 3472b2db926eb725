"""Names and conditions in the SQL that a migration sends to an unsharded database."""

from datasources.sql.source_tables import INTEGERS, Column

NUMBERS = INTEGERS | {"bit"}
"""Types whose values are compared as integers. A BIT is compared with a text byte by byte."""


def quoted(name: str) -> str:
    """A name as an identifier, for a statement without arguments."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def name_of(column: Column) -> str:
    """A column's name as an identifier, for a statement with arguments."""
    return quoted(column.name).replace("%", "%%")


def equal(column: Column, text: str) -> tuple[str, str | int]:
    """The condition that a column has a value, as `Source.page` gives it, and the argument."""
    given = int(text) if column.type in NUMBERS else text
    return f"{name_of(column)} = {'UNHEX(%s)' if column.is_binary else '%s'}", given

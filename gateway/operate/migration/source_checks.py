"""Compares a mapping with the source's catalogue, and joins the two."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from datasources.sql.grants import Grants
from datasources.sql.source_tables import Table, Wanted
from gateway.operate.migration.fields import FIELDS, Form, type_fault
from gateway.operate.migration.mapping import BadMapping, Mapping, TableMapping

if TYPE_CHECKING:
    from datasources.mysql.source import Source


class TablePlan(NamedTuple):
    """A table of the source, and what to read from it: a value for each field of the mapping."""

    mapping: TableMapping
    table: Table
    wanted: tuple[Wanted, ...]


class NotFollowed(NamedTuple):
    """A column of a table's primary key because of which the commands can't follow the mapping."""

    table: str
    column: str
    message: str

    def words(self) -> str:
        """The table for people."""
        return (
            f"{self.table} can be copied, but follow and cut-over refuse it: {self.message}; "
            "before the copy, give the table such a primary key or leave it out of the mapping"
        )


async def plans(mapping: Mapping, source: "Source") -> list[TablePlan]:
    """The tables in the mapping's order. Raises BadMapping with all faults."""
    tables, grants = await source.tables(), await source.grants()
    if not tables:
        message = (
            f"there is no database {source.database!r}, or this user may not see its tables: "
            f"{grants.statement(['SELECT'], source.database)};"
        )
        raise BadMapping([mapping.fault(("source",), message)])
    faults: list[str] = []
    found = []
    for given in mapping.tables:
        table = tables.get(given.table)
        if table is None:
            message = _absent(given.table, tables, f"table in {source.database!r}")
            if select := _select(grants, source.database, given.table):
                message += f", or this user may not read it: {select}"
            faults.append(mapping.fault((*given.place, "table"), message))
            continue
        before = len(faults)
        columns = [origin.column for origin in given.columns.values()]
        select = _select(grants, source.database, table.name, {*table.primary, *columns})
        faults += _table_faults(mapping, given, table)
        if select:
            message = f"this user may not read all columns that are named here: {select}"
            faults.append(mapping.fault((*given.place, "table"), message))
        if len(faults) > before:
            continue
        if given.where and (fault := await source.condition_fault(table, given.where)):
            faults.append(mapping.fault((*given.place, "where"), fault))
        wanted = tuple(
            Wanted(
                table.columns[origin.column],
                raw=origin.charset is not None,
                is_key=FIELDS[given.becomes][name].form is Form.KEY,
            )
            for name, origin in given.columns.items()
        )
        found.append(TablePlan(given, table, wanted))
    if faults:
        raise BadMapping(faults)
    return found


async def not_followed(source: "Source", plans: Sequence[TablePlan]) -> list[NotFollowed]:
    """The columns because of which changes of the tables can't be followed."""
    tables = {plan.table.name: plan.table for plan in plans}
    return [
        NotFollowed(table.name, *fault)
        for table in tables.values()
        for fault in await source.key_faults(table)
    ]


def _select(grants: Grants, database: str, table: str, columns: Collection[str] = ()) -> str:
    """The statement with which the user may read these columns of a table; empty if they may."""
    if grants.has("SELECT", database, table, columns):
        return ""
    return f"{grants.statement(['SELECT'], database, table)};"


def _table_faults(mapping: Mapping, given: TableMapping, table: Table) -> list[str]:
    found = []
    if not table.primary:
        message = (
            f"{table.name} has no primary key, by which its rows are read in ranges: give it one, "
            "or name a table that has one"
        )
        found.append(mapping.fault((*given.place, "table"), message))
    for name, origin in given.columns.items():
        place = (*given.place, "columns", name)
        column = table.columns.get(origin.column)
        if column is None:
            message = _absent(origin.column, table.columns, f"column in {table.name}")
            found.append(mapping.fault(place, message))
            continue
        form = FIELDS[given.becomes][name].form
        if fault := type_fault(form, column, origin.unit):
            message = f"the column {column.name} is {column.type.upper()}: {fault}"
            found.append(mapping.fault(place, message))
        elif name == "key" and column.name not in table.unique:
            right = ", ".join(sorted(table.unique)) or "none is"
            message = (
                f"the column {column.name} is not unique, or may be NULL: an old id names one row "
                f"(unique by themselves: {right})"
            )
            found.append(mapping.fault(place, message))
    return [*found, *_back_faults(mapping, given, table)]


def _back_faults(mapping: Mapping, given: TableMapping, table: Table) -> list[str]:
    """The columns for the way back are there, and no field fills them."""
    found = []
    filled = {origin.column: name for name, origin in given.columns.items()}
    for part, values in (("new", given.back.new), ("deleted", given.back.deleted)):
        for column in values:
            place = (*given.place, "back", part, column)
            if column not in table.columns:
                found.append(
                    mapping.fault(place, _absent(column, table.columns, f"column in {table.name}"))
                )
            elif column in filled:
                message = f"the field {filled[column]} fills the column already"
                found.append(mapping.fault(place, message))
    return found


def _absent(name: str, known: Collection[str], what: str) -> str:
    close = get_close_matches(name, known, 1)
    if close:
        return f"there is no {what} with the name {name!r}: did you mean {close[0]}?"
    some = ", ".join(sorted(known)[:20])
    return f"there is no {what} with the name {name!r}: there are {some}"

"""The tables of the old database as places for Pinway's objects, likes and follows."""

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from datasources.sql.source_tables import INTEGERS, RowRefused, Written, WrittenColumn
from gateway.operate.migration.back.ledger import BackLedger
from gateway.operate.migration.back.values import Fields, Inexpressible, written
from gateway.operate.migration.fields import FIELDS
from gateway.operate.migration.mapping import Origin
from gateway.operate.migration.source_checks import TablePlan

if TYPE_CHECKING:
    from datasources.mysql.source_writer import SourceWriter


class Target(NamedTuple):
    """A table that takes a kind of objects or edges."""

    plan: TablePlan
    columns: Mapping[str, WrittenColumn]

    @property
    def name(self) -> str:
        return self.plan.table.name

    @property
    def kind(self) -> str:
        return self.plan.mapping.becomes

    @property
    def origins(self) -> dict[str, Origin]:
        return self.plan.mapping.columns

    def column(self, field: str) -> WrittenColumn:
        """The column that has a field."""
        return self.columns[self.origins[field].column]

    def written(self, field: str, values: Fields) -> Written:
        """The column's value for a field. Raises Inexpressible."""
        return written(self.kind, field, values[field], self.origins[field], self.column(field))

    def is_needed(self, field: str) -> bool:
        """Whether no row can be without the field."""
        return FIELDS[self.kind][field].required or not self.column(field).column.nullable


class Row(NamedTuple):
    """The values of a row by column: all of them, and the ones without which there is no row."""

    whole: dict[str, Written]
    least: dict[str, Written]


class NewKeys:
    """Gives old ids to new objects: numbers of the server where it counts them, the next number or
    binary value above the highest one, or the object's own id as a text. Gives new pins places."""

    def __init__(self, writer: "SourceWriter", ledger: BackLedger) -> None:
        self._writer, self._ledger = writer, ledger
        self._last: dict[tuple[str, str], int] = {}
        self._refused: set[int] = set()

    async def next(self, target: Target, id: int, row: Row) -> str:
        """The old id of a new object. Raises RowRefused and Inexpressible."""
        column = target.column("key")
        type = column.column.type
        if column.counts:
            return await self._reserved(target, id, row)
        if type == "uuid":
            return str(uuid.uuid4())
        if type in INTEGERS or type in ("decimal", "binary"):
            return await self._above(target, "key")
        if column.column.is_binary:
            return id.to_bytes(8, "big").hex()
        return str(id)

    async def _reserved(self, target: Target, id: int, row: Row) -> str:
        """A number of the server. It does not give numbers of refused rows back, so a row that was
        refused is tried with another number first."""
        table, name = target.plan.table, target.origins["key"].column
        if id in self._refused:
            other = int(await self._writer.highest(table, name) or 0) + 1
            await self._writer.reserved(table, {**row.least, name: other})
        try:
            return await self._writer.reserved(table, row.whole)
        except RowRefused:
            self._refused.add(id)
            return await self._writer.reserved(table, row.least)

    async def places(self, target: Target) -> dict[str, Written]:
        """A place on its board that no other row has, by column, for a pin whose row can't be
        without a place. The order of its board comes later."""
        if "sequence" not in target.origins or not target.is_needed("sequence"):
            return {}
        if target.column("sequence").column.type not in INTEGERS:
            return {}
        return {target.origins["sequence"].column: await self._above(target, "sequence")}

    async def _above(self, target: Target, field: str) -> str:
        """The next value of a field's column above all that it has, and above all that were
        given."""
        column, place = target.column(field), (target.name, field)
        base = 16 if column.column.is_binary else 10
        if place not in self._last:
            found = await self._writer.highest(target.plan.table, column.column.name)
            given = self._ledger.keys(target.kind, target.name) if field == "key" else []
            values = [*([found] if found is not None else []), *given]
            self._last[place] = max((int(text, base) for text in values), default=0)
        self._last[place] += 1
        if base == 10:
            return str(self._last[place])
        width = 2 * column.length
        text = f"{self._last[place]:0{width}x}"
        if len(text) > width:
            raise Inexpressible(f"{column.column.name} has no value above the highest one")
        return text

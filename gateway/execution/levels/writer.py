"""Writes a request's tables as JSON, from the root: with compiled code (`json_writer`), or the
objects of each level with a generated comprehension, the level below first, and orjson.

Rows below a null are in the tables, too; nothing refers to them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gateway.execution.encode import PART, SMALL, SMALL_TEXT, TooLarge, dumps, encode
from gateway.execution.levels import slices
from gateway.execution.levels.leaves import LeafSlot
from gateway.execution.levels.tables import ABSTRACT, Column, Table, tables_below
from loaders.compiled import WANTED

if TYPE_CHECKING:
    from gateway.execution.levels.json_writer import TableWriter

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.levels import json_writer
except ImportError:  # not built, or PINWAY_COMPILED=0
    json_writer = None  # type: ignore[assignment]

BUILT: bool = json_writer is not None
"""Whether compiled code reads leaves and writes tables."""
__all__ = ["BUILT", "json_writer", "written"]
AT_ONCE = 4_096
"""The number of objects and items that compiled code writes between two rests."""


async def written(
    roots: Sequence[Table],
    count: int,
    rest: Callable[[], Awaitable[None]],
    garbage: list[list[Any]],
    most: int = 0,
    begun: TableWriter | None = None,
) -> list[bytes]:
    """Returns the JSON of the root tables as one object, in several parts if it is large. `count`
    is the number of objects. `garbage` gets the lists that are to be freed in slices. `begun` is
    the compiled writer of the first root, if it has taken a step. Raises TooLarge as soon as the
    parts have more than `most` bytes (0: any number)."""
    if BUILT:
        return await _compiled(roots, rest, most, begun)
    data: dict[str, Any] = {}
    if count <= SMALL and not _has_long_texts(roots):
        for root in roots:
            made: list[Any] = []
            for _ in _objects(root, made):
                pass
            data.update(made[0])
        text = dumps(data)
        if 0 < most < len(text):
            raise TooLarge
        return [text]
    for root in roots:
        made = []
        for large in _objects(root, made):
            if large is not None:
                garbage.append(large)
            await rest()
        data.update(made[0])
    return await encode(data, most)


async def written_rows(
    table: Table, rows: Sequence[int], rest: Callable[[], Awaitable[None]]
) -> list[list[bytes]]:
    """Returns the JSON of the objects at these rows of a table, each in several parts if it is
    large."""
    texts: list[list[bytes]] = []
    if BUILT:
        for row in rows:
            one, parts = json_writer.TableWriter(table, row), list[bytes]()
            while one.step(AT_ONCE, PART):
                parts.append(one.take())
                await rest()
            parts.append(one.take())
            texts.append(parts)
        await rest()
        return texts
    made: list[Any] = []
    for _ in _objects(table, made):
        await rest()
    for row in rows:
        texts.append(await encode(made[row]))
    return texts


async def _compiled(
    roots: Sequence[Table],
    rest: Callable[[], Awaitable[None]],
    most: int,
    begun: TableWriter | None,
) -> list[bytes]:
    if not roots:
        return [b"{}"]
    parts: list[bytes] = []
    total = 0
    for number, root in enumerate(roots):
        table, begun = begun or json_writer.TableWriter(root), None
        first = len(parts)
        while True:
            left = table.step(AT_ONCE, PART)
            part = table.take()
            if number and len(parts) == first:  # join the objects of the root fields
                parts[-1] = parts[-1][:-1] + b","
                part = part[1:]
            parts.append(part)
            total += len(part)
            if 0 < most < total:
                raise TooLarge
            if not left:
                break
            await rest()
    return parts


def _has_long_texts(roots: Sequence[Table]) -> bool:
    """Whether the texts of the tables have more than SMALL_TEXT characters."""
    total = 0
    for table in tables_below(roots):
        for column in table.columns:
            if isinstance(column.slot, LeafSlot):
                total += column.slot.characters(column.values)
                if total > SMALL_TEXT:
                    return True
    return False


def _objects(table: Table, made: list[Any]) -> Iterator[list[Any] | None]:
    """Makes the objects or items of a table, in `made`. Yields after each slice, and yields lists
    that are large."""
    columns: list[Sequence[Any]] = []
    for column in table.columns:
        if column.below is None:
            columns.append(column.values)
        else:
            values: list[Any] = []
            yield from _values(column, values)
            columns.append(values)
    if table.selection is None:
        made += columns[0]
        yield None
        return
    make, size = table.selection.shape.make(), slices.SLICE * slices.AT_ONCE
    if table.count <= size:
        made += make(table.count, *columns)
        yield None
        return
    for start in range(0, table.count, size):
        stop = min(start + size, table.count)
        made += make(stop - start, *[column[start:stop] for column in columns])
        yield None
    yield made


def _values(column: Column, values: list[Any]) -> Iterator[list[Any] | None]:
    """Makes the objects or lists of a column, in `values`."""
    assert column.below is not None
    below: dict[Table, list[Any]] = {}
    for table in column.below:
        made: list[Any] = []
        yield from _objects(table, made)
        below[table] = made
    size = slices.SLICE * slices.AT_ONCE
    listed, abstract = table.listed, column.kind == ABSTRACT
    for start in range(0, len(column.values), size):
        part = column.values[start : start + size]
        if listed:
            values += [None if at is None else made[at[0] : at[1]] for at in part]
        elif abstract:
            values += [None if at is None else below[at[0]][at[1]] for at in part]
        else:
            values += [None if at is None else made[at] for at in part]
        yield None
    if len(values) > size:
        yield values

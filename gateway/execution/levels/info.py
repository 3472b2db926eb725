"""Makes the `info` argument of resolvers, for resolvers that have one.

Most resolvers read only attributes that are the same for all objects of a field, such as
`info.context`. One info is then made for all objects. For other resolvers each object gets its own
info, which computes its path when the resolver reads it.
"""

from __future__ import annotations

import asyncio
import dis
from asyncio import Task, ensure_future
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from types import FunctionType
from typing import Any

from graphql import GraphQLResolveInfo
from graphql.execution.values import VariableValues
from graphql.pyutils import Path, is_awaitable
from graphql.type import GraphQLResolveInfoHelpers

from gateway.execution.levels.tables import Column, Positions
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.tasks.dropped import observe

SAME_FOR_ALL = {
    *("abort_signal", "async_helpers", "context", "field_name", "field_nodes", "fragments"),
    *("input_extensions", "is_awaitable", "operation", "parent_type", "python_name", "query"),
    *("return_type", "root_value", "schema", "selected_fields", "variable_values"),
}
"""Attributes of graphql-core's and strawberry's info that don't depend on the path."""
_LOADS = {"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"}
_SEES_ALL = {"locals", "vars", "eval", "exec", "_getframe", "currentframe"}


class LazyInfo(GraphQLResolveInfo[Any]):
    """graphql-core's info, except that the path, the variables and the helpers are made when they
    are read."""

    @cached_property
    def path(self) -> Path:
        return path_of(*tuple.__getitem__(self, 4))

    @cached_property
    def variable_values(self) -> VariableValues:
        found: VariableValues = tuple.__getitem__(self, 9)()
        return found

    @cached_property
    def async_helpers(self) -> GraphQLResolveInfoHelpers:
        """Helpers that refer to a list of the run, and not to the run: no reference cycle."""
        dropped = tuple.__getitem__(self, 13)
        return GraphQLResolveInfoHelpers(
            gather=partial(_gather, dropped), track=partial(_track, dropped)
        )


def path_of(positions: Positions | Column, i: int) -> Path:
    """Returns the path of position number `i`."""
    column: Column | None
    steps, (column, row) = [], positions.base(i)
    while column is not None:
        steps.append(column.step(row))
        column, row = column.above(row)
    path: Path | None = None
    for key, _, typename in reversed(steps):
        path = Path(path, key, typename)
    assert path is not None
    return path


def _track(dropped: list[Task[Any]], values: Sequence[Any]) -> None:
    """Let awaitables run on whose values are not needed, until the end of the request."""
    for value in values:
        if is_awaitable(value):
            task = ensure_future(value)
            task.add_done_callback(observe)
            dropped.append(task)


async def _gather(dropped: list[Task[Any]], values: Sequence[Any]) -> list[Any]:
    """Like graphql-core's `gather_with_cancel`. When a value fails, the others run on until the end
    of the request: other resolvers may await what they await (`levels.waits`)."""
    tasks = [ensure_future(value) for value in values]
    try:
        return await asyncio.gather(*tasks)
    except Exception:
        _track(dropped, [task for task in tasks if not task.done()])
        raise


def make_info(
    run: State, field: Field, positions: Positions | Column, i: int
) -> GraphQLResolveInfo[Any]:
    """Returns the info for one position of the field: number `i`, or row `i` of a column."""
    of_field, of_schema, operation = field.about
    return tuple.__new__(
        LazyInfo,
        (
            *(*of_field, (positions, i), *of_schema, run.root, operation),
            *(run.variable_values, run.context, is_awaitable, None, run.dropped),
        ),
    )


@lru_cache(10_000)
def same_for_all(function: Callable[..., Any], parameter: str | int) -> bool:
    """Whether a function reads only those attributes of its info that all objects share.
    `parameter` is the name or number of the info's parameter.

    The check reads the function's bytecode. It returns False if it is not sure.
    """
    if not isinstance(function, FunctionType):
        return False
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if isinstance(parameter, int):
        if parameter >= code.co_argcount:
            return False
        parameter = names[parameter]
    elif parameter not in names:
        return False
    if parameter in code.co_cellvars or _SEES_ALL & set(code.co_names):
        return False
    instructions = list(dis.get_instructions(code))
    for this, after in zip(instructions, [*instructions[1:], None], strict=True):
        value = this.argval
        if value != parameter and not (isinstance(value, tuple) and parameter in value):
            continue
        if this.opname in ("LOAD_CONST", "LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "KW_NAMES"):
            continue  # another use of the same name, such as an attribute
        if not (
            this.opname in _LOADS
            and after is not None
            and after.opname in ("LOAD_ATTR", "LOAD_METHOD")
            and after.argval in SAME_FOR_ALL
        ):
            return False
    return True

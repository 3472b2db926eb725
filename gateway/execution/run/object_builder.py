"""Makes the dicts of a selection's objects from columns of values, with generated Python.

def make(count, c0, c1):
    return [{'id': x0, 'name': x1, 'board': None} for x0, x1 in zip(c0, c1)]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, cast

from gateway.execution.model.selection import Completer, Field, Selection
from gateway.execution.run.leaves import LeafCompleter
from gateway.execution.run.sources import Attribute, Bulk, Call, Constant

Resolved: TypeAlias = "tuple[Field, Attribute | Call | Bulk, Completer, LeafCompleter | None]"


class FastPathMiss(Exception):
    """A value that compiled code has no way to handle."""


class ObjectBuilder:
    """Sorts a selection's fields by how their values get into its objects: the columns of leaves,
    then objects and lists, which are added after the objects exist."""

    def __init__(self, selection: Selection) -> None:
        self._fields = selection.fields
        self.resolved: list[Resolved] = []
        """The fields but for constants, in response order: with their source, their completer, and
        the completer again if it is a leaf's."""
        self.attributes: list[Field] = []
        """The leaves that are read from the objects, in response order."""
        for field in self._fields:
            completer, source = field.completer, cast(Any, field.source)
            leaf = completer if isinstance(completer, LeafCompleter) else None
            if not isinstance(source, Constant):
                self.resolved.append((field, source, completer, leaf))
                if leaf is not None and isinstance(source, Attribute):
                    self.attributes.append(field)
        self.getters = [cast(Attribute, field.source).get for field in self.attributes]
        self.bulk = [
            (field, source) for field, source, _, _ in self.resolved if isinstance(source, Bulk)
        ]

    @cached_property
    def make(self) -> Callable[..., list[dict[str, Any]]]:
        """`make(count, *columns)` makes the objects, with None for objects and lists. The columns
        are those of the leaves, in response order."""
        parts, columns = [], 0
        for field in self._fields:
            value = "None"
            if isinstance(field.source, Constant):
                value = repr(field.source.value)
            elif isinstance(field.completer, LeafCompleter):
                value = f"x{columns}"
                columns += 1
            parts.append(f"{field.key!r}: {value}")
        arguments = "".join(f", c{n}" for n in range(columns))
        loop = "_ in range(count)"
        if columns:
            items = ", ".join(f"x{n}" for n in range(columns))
            loop = f"({items},) in zip({arguments[2:]})"
        return _generated(
            f"def make(count{arguments}):\n    return [{{{', '.join(parts)}}} for {loop}]\n"
        )


SHORT = 2_000
"""The length of code, in characters, up to which selections of the same fields share a function."""


def _generated(source: str) -> Callable[..., list[dict[str, Any]]]:
    return _shared(source) if len(source) <= SHORT else _made(source)


def _made(source: str) -> Callable[..., list[dict[str, Any]]]:
    env: dict[str, Any] = {}
    exec(compile(source, "<plan>", "exec"), env)
    return env["make"]  # type: ignore[no-any-return]


_shared = lru_cache(1024)(_made)

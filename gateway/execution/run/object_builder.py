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
    """Raised on the fast path for a value that it can't handle: the attempt is given up."""


class ObjectBuilder:
    """Makes the dicts of a selection's objects, and sorts its fields by how they are resolved.

    Leaves are in the dicts from the start. Objects and lists are None at first, and are added when
    they are completed.
    """

    def __init__(self, selection: Selection) -> None:
        self._fields = selection.fields
        self.to_resolve: list[Resolved] = []
        """All fields except constants, in response order, each with its source, its completer, and
        the completer again if the field is a leaf (else None)."""
        self.attributes: list[Field] = []
        """The leaves that are attributes of the objects, in response order."""
        for field in self._fields:
            completer, source = field.completer, cast(Any, field.source)
            leaf = completer if isinstance(completer, LeafCompleter) else None
            if not isinstance(source, Constant):
                self.to_resolve.append((field, source, completer, leaf))
                if leaf is not None and isinstance(source, Attribute):
                    self.attributes.append(field)
        self.getters = [cast(Attribute, field.source).get for field in self.attributes]
        self.bulk = [
            (field, source) for field, source, _, _ in self.to_resolve if isinstance(source, Bulk)
        ]

    @cached_property
    def make(self) -> Callable[..., list[dict[str, Any]]]:
        """The function `make(count, *columns)`, which makes `count` objects. There is a column for
        each leaf, in response order."""
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
"""The maximum length of code, in characters, for which equal selections share a function."""


def _generated(source: str) -> Callable[..., list[dict[str, Any]]]:
    return _shared(source) if len(source) <= SHORT else _made(source)


def _made(source: str) -> Callable[..., list[dict[str, Any]]]:
    env: dict[str, Any] = {}
    exec(compile(source, "<plan>", "exec"), env)
    return env["make"]  # type: ignore[no-any-return]


_shared = lru_cache(1024)(_made)

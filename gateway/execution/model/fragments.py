"""Deferred fragments (@defer): which fields of a selection set wait, and for which fragments.
Streamed lists (@stream): how many items do not wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphql import (
    BooleanValueNode,
    FieldNode,
    GraphQLError,
    IntValueNode,
    StringValueNode,
    ValueNode,
    VariableNode,
)
from graphql.execution.collect_fields import DeferUsage, FieldDetails


class Fragment:
    """A deferred fragment at one place of an operation. Its fields are executed when the part of
    its `parent`, the deferred fragment around it, is complete; None: the initial part."""

    __slots__ = ("label", "parent", "usage")

    def __init__(self, usage: DeferUsage, parent: Fragment | None) -> None:
        self.usage, self.parent, self.label = usage, parent, usage.label


Group = frozenset[Fragment]
"""The deferred fragments for which a field is executed; empty for the fields of the initial part.
The fields of a group are executed together, when the first of its fragments begins."""
INITIAL: Group = frozenset()


class Fragments:
    """All deferred fragments of a compiled operation, by the identity of graphql-core's objects:
    these are equal if their directives look the same."""

    def __init__(self) -> None:
        self._known: dict[int, Fragment] = {}

    def of(self, usage: DeferUsage) -> Fragment:
        found = self._known.get(id(usage))
        if found is None:
            above = usage.parent_defer_usage
            found = Fragment(usage, None if above is None else self.of(above))
            self._known[id(usage)] = found
        return found

    def group(self, details: Iterable[FieldDetails]) -> Group:
        """The group of a field. A fragment inside another one of the group is left out: the field
        is executed for the outer one."""
        found = set()
        for detail in details:
            if detail.defer_usage is None:
                return INITIAL
            found.add(self.of(detail.defer_usage))
        return frozenset(each for each in found if not any(up in found for up in above(each)))


def above(fragment: Fragment) -> Iterable[Fragment]:
    """Yields the deferred fragments around a fragment, the innermost first."""
    parent = fragment.parent
    while parent is not None:
        yield parent
        parent = parent.parent


class Stream:
    """The @stream of a field. `whole` makes a selection whose only field is the list: its slot
    completes the later items with all of their fields, and it writes them under the key ITEMS."""

    __slots__ = ("_initial", "label", "whole")

    def __init__(self, initial: int | str, label: str | None, whole: Callable[[], Any]) -> None:
        """`initial` is the number of items of the initial part, or the name of a variable."""
        self._initial, self.label, self.whole = initial, label, whole

    def initial_count(self, variables: Mapping[str, Any]) -> int:
        """The number of items that do not wait. Raises GraphQLError if it is negative."""
        count = self._initial
        if isinstance(count, str):
            count = variables.get(count) or 0
        if count < 0:
            raise GraphQLError(f"initialCount must be 0 or more, not {count}.")
        return count


ITEMS = "items"
"""The key of a streamed list's items, in the incremental delivery proposal."""


def stream_of(node: FieldNode, flags: Mapping[str, Any], whole: Callable[[], Any]) -> Stream | None:
    """The @stream of a field node; None if there is none, or if its condition is false. `flags` are
    the values of variables in conditions."""
    for directive in node.directives or ():
        if directive.name.value == "stream":
            given = {one.name.value: one.value for one in directive.arguments or ()}
            if not _is_true(given.get("if"), flags):
                return None
            label, initial = given.get("label"), given.get("initialCount")
            return Stream(
                _count(initial),
                label.value if isinstance(label, StringValueNode) else None,
                whole,
            )
    return None


def _is_true(value: ValueNode | None, flags: Mapping[str, Any]) -> bool:
    if isinstance(value, VariableNode):
        return flags.get(value.name.value, True) is True
    return value is None or (isinstance(value, BooleanValueNode) and value.value)


def _count(value: ValueNode | None) -> int | str:
    if isinstance(value, VariableNode):
        return value.name.value
    return int(value.value) if isinstance(value, IntValueNode) else 0

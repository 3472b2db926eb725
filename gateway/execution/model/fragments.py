"""Deferred fragments (@defer): which fields of a selection set wait, and for which fragments."""

from __future__ import annotations

from collections.abc import Iterable

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

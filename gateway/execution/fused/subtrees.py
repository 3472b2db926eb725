"""Decides which selections have a fast path, and how it fetches and writes each of their fields.

A selection has a fast path if every field below it is an attribute, a bulk resolver, or a function
that needs no path, and gives leaves, objects of one type, or lists of these. Response positions are
then needed only for errors. The fast path first fetches all objects, column by column (`attempts`),
and then writes them as JSON (`writers`).

A function needs no path if it takes no `info`, or if its bytecode shows that it reads only what is
the same for all objects (`run.info.same_for_all`). `def f(*args)` and graphql-core's default
resolver have no fast path.
"""

from __future__ import annotations

from gateway.execution.fused.attempts import FieldFetch, FieldOutput, ObjectNode, Subtree
from gateway.execution.fused.parts import Bulked, Many, One, Read, Values
from gateway.execution.fused.writers import BUILT, writer_of
from gateway.execution.model.selection import Field, Selection
from gateway.execution.run.composites import ObjectCompleter
from gateway.execution.run.leaves import LeafCompleter
from gateway.execution.run.lists import ListCompleter
from gateway.execution.run.object_builder import FastPathMiss
from gateway.execution.run.sources import Attribute, Bulk, Call, Constant

MOST = 512
"""The maximum number of columns of a subtree. A larger selection is executed on the plain path;
the selections below it may have a fast path. Without this limit, response paths that share
selections would make a subtree far larger than the document."""


def subtree_of(selection: Selection) -> Subtree | None:
    """Returns the fast path of a selection, or None if it has none."""
    if not BUILT:
        return None
    try:
        nodes = _ObjectNodes()
        root = nodes.node(selection)
    except FastPathMiss:
        return None
    writer_of(root)
    return Subtree(nodes.made, nodes.size)


class _ObjectNodes:
    """Makes the nodes of a subtree, and numbers its columns."""

    def __init__(self) -> None:
        self.size = 0
        self.made: list[ObjectNode] = []
        self._selections: set[Selection] = set()

    def _number(self) -> int:
        self.size += 1
        if self.size > MOST:
            raise FastPathMiss
        return self.size - 1

    def node(self, selection: Selection) -> ObjectNode:
        if selection in self._selections:
            raise FastPathMiss  # a field would occur twice, but State.resolved has one entry for it
        if selection.failure is not None:
            raise FastPathMiss
        self._selections.add(selection)
        node = ObjectNode(selection, self._number())
        self.made.append(node)
        for field in selection.fields:
            source = field.source
            if isinstance(source, Constant):
                continue
            attribute = isinstance(source, Attribute) and source.needs_no_position
            if attribute and isinstance(field.completer, LeafCompleter):
                node.leaves.append(field)
            else:
                node.outputs[field] = output = self._output_of(field)
                node.fetches.append(_fetch_of(field, output))
        return node

    def _output_of(self, field: Field) -> FieldOutput:
        completer = field.completer
        if isinstance(completer, LeafCompleter):
            return Values(self._number(), completer, listed=False)
        if isinstance(completer, ObjectCompleter):
            return One(self._number(), completer, self._below(completer))
        if isinstance(completer, ListCompleter):
            if isinstance(completer.item, LeafCompleter):
                return Values(self._number(), completer.item, listed=True)
            if isinstance(completer.item, ObjectCompleter):
                return Many(self._number(), completer.item, self._below(completer.item))
        raise FastPathMiss

    def _below(self, completer: ObjectCompleter) -> ObjectNode:
        return self.node(completer.selection(completer.type))


def _fetch_of(field: Field, output: FieldOutput) -> FieldFetch:
    source = field.source
    if isinstance(source, Bulk):
        return Bulked(field, output, source)
    if isinstance(source, Attribute | Call) and source.needs_no_position:
        return Read(field, output, source)
    raise FastPathMiss

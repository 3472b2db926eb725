"""Selections: the collected fields of an operation for one object type, which the executor works
through.

Each field has a source, which resolves its values, and a slot, which completes them. The
operation's compiler makes both when they are first used. This module has only the interfaces of the
compiler and the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLField,
    GraphQLNonNull,
    GraphQLObjectType,
    OperationDefinitionNode,
)
from graphql.execution.collect_fields import FieldDetails

from gateway.execution.model.fragments import INITIAL, Fragment, Group
from gateway.execution.model.lines import at_nodes
from gateway.execution.model.operation import Operation

CONSTANT = -1
"""The column number of a field that has no column."""


class Source(Protocol):
    """Resolves a field's values: one of the classes in `levels.sources`. Attribute and Call have
    `start(run, field, objs, positions)`, which returns a value, an awaitable or an exception for
    each object. Constant and Bulk are recognized by their class."""


class Compiler(Protocol):
    """Makes the parts of an operation's fields and selections: `compile.variant.Variant`."""

    operation: Operation

    def select(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The selection below a field, for objects of one type."""

    def source_of(self, field: Field) -> Source: ...

    def slot_of(self, field: Field) -> Any: ...

    def shape_of(self, selection: Selection) -> Any: ...


class Field:
    """The collected fields with one response name, on one object type."""

    def __init__(
        self,
        compiler: Compiler,
        parent: GraphQLObjectType,
        key: str,
        rank: int,
        details: list[FieldDetails],
        definition: GraphQLField,
    ) -> None:
        """`key` is the response name. `rank` is the field's number in the selection. `details` are
        the field nodes that were merged."""
        self.compiler, self.operation = compiler, compiler.operation
        self.parent, self.key, self.rank = parent, key, rank
        self.details, self.definition = details, definition
        self.nodes: list[FieldNode] = [detail.node for detail in details]
        if len(details) > 1 and self.operation.defers:
            self.nodes = list({id(node): node for node in self.nodes}.values())
        self.name = self.nodes[0].name.value
        self.nonnull = isinstance(definition.type, GraphQLNonNull)

    @cached_property
    def source(self) -> Source:
        """Resolves the field's values."""
        return self.compiler.source_of(self)

    @cached_property
    def slot(self) -> Any:
        """Completes the field's values: a `levels.slot.Slot`."""
        return self.compiler.slot_of(self)

    def forget(self) -> None:
        """Drop the cached properties, to break reference cycles: most of them refer to the
        field."""
        for name in ("source", "slot", "about", "in_document"):
            self.__dict__.pop(name, None)

    @cached_property
    def about(self) -> tuple[tuple[Any, ...], tuple[Any, ...], OperationDefinitionNode]:
        """The parts of a resolver's `info` that are the same in all requests: the field's own
        parts, then the schema and the fragments, then the operation."""
        return (
            (self.name, self.nodes, self.definition.type, self.parent),
            (self.operation.schema, self.operation.fragments),
            self.operation.node,
        )

    @cached_property
    def in_document(self) -> GraphQLError:
        """An error whose locations are the field's nodes. Errors of the field copy the
        locations."""
        return at_nodes(self.nodes)


class Selection:
    """The collected fields of a selection set, for one object type.

    `failure` is the error of its @skip and @include, if they have no value: each object that has
    the selection fails with it. `group` are the deferred fragments for which it is executed.
    """

    def __init__(
        self,
        compiler: Compiler,
        type_: GraphQLObjectType,
        collected: dict[str, list[FieldDetails]],
        failure: GraphQLError | None = None,
        group: Group = INITIAL,
    ) -> None:
        self._compiler, self.type, self.failure = compiler, type_, failure
        self.group = group
        self.place: Place | None = None
        """The deferred fields of the same objects; None if there are none."""
        schema = compiler.operation.schema
        self.fields: list[Field] = []
        for key, details in collected.items():
            definition = schema.get_field(type_, details[0].node.name.value)
            if definition is not None:  # validation refuses unknown fields
                self.fields.append(
                    Field(compiler, type_, key, len(self.fields), details, definition)
                )

    def empty(self) -> Selection:
        """Returns a selection without fields for the same objects."""
        return Selection(self._compiler, self.type, {})

    @cached_property
    def shape(self) -> Any:
        """The columns of the selection's table: a `levels.shapes.Shape`."""
        return self._compiler.shape_of(self)

    def forget(self) -> None:
        """Drop the cached properties, to break reference cycles: most of them refer to the
        selection."""
        self.__dict__.pop("shape", None)
        self.place = None
        for field in self.fields:
            field.forget()


class Place:
    """A selection set with deferred fragments, for one object type: its main selection, and a
    selection for each further group of fields."""

    def __init__(
        self,
        main: Selection,
        layers: Mapping[Group, Selection],
        fragments: Sequence[Fragment],
        order: Sequence[str],
        fragments_of: Callable[[Iterable[FieldDetails]], set[Fragment | None]],
    ) -> None:
        """`fragments` begin at this place. `order` are all response names in their order.
        `fragments_of` are the fragments in which the nodes of a field are."""
        self.main, self.layers, self.fragments = main, layers, fragments
        self._order, self._fragments_of = order, fragments_of
        self._views: dict[Fragment, tuple[Selection, list[tuple[Group, int]]]] = {}

    def view(self, fragment: Fragment) -> tuple[Selection, list[tuple[Group, int]]]:
        """Returns a selection of the fragment's own fields, and for each of its columns: the group
        of the selection that executes the field, and the number of the column there."""
        found = self._views.get(fragment)
        if found is None:
            found = self._views[fragment] = self._new_view(fragment)
        return found

    def _new_view(self, fragment: Fragment) -> tuple[Selection, list[tuple[Group, int]]]:
        main, own = self.main, dict[str, tuple[Field, tuple[Group, int]]]()
        for selection in (main, *self.layers.values()):
            numbers = selection.shape.numbers()
            for field in selection.fields:
                if fragment in self._fragments_of(field.details):
                    number = numbers.get(field.key, CONSTANT)
                    own[field.key] = field, (selection.group, number)
        view = main.empty()
        columns = []
        for key in self._order:
            if key in own:
                field, at = own[key]
                view.fields.append(field)
                if at[1] != CONSTANT:
                    columns.append(at)
        return view, columns

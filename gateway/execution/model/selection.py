"""The collected fields of an operation, by object type: what the executor works through.

A field knows how its values are resolved (`source`) and completed (`completer`). Both are made by
the operation's compiler when they are first needed: this module knows the compiler, the sources
and the completers by their interfaces alone.
"""

from __future__ import annotations

from collections.abc import Sequence
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

from gateway.execution.model.operation import Operation


class Source(Protocol):
    """How a field's values are resolved: one of the classes of `run.sources`."""


class Completer(Protocol):
    """Completes values of one type: one of the classes made by `compile.completers`."""

    field: Field
    nonnull: bool

    def complete(
        self, run: Any, values: Sequence[Any], positions: Any, classes: set[type] | None = None
    ) -> None:
        """Put the completed values, none of them awaitable, at their response positions. `classes`
        are the values' classes, if they are known."""

    def fails(self, value: Any) -> bool:
        """Whether a value is an error, or is null where null is not allowed, as far as the value
        itself shows."""


class TryFused(Protocol):
    """The fast path of one selection (see `fused`)."""

    def __call__(self, run: Any, objs: Sequence[Any], positions: Any) -> bool:
        """Take over these objects with everything below them. Returns whether that was done."""


class Compiler(Protocol):
    """Assembles one operation's fields and selections: `compile.variant`."""

    operation: Operation

    def select(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The selection below a field, for objects of one type."""

    def source_of(self, field: Field) -> Source: ...

    def completer_of(self, field: Field) -> Completer: ...

    def builder_of(self, selection: Selection) -> Any: ...

    def fused_for(self, selection: Selection) -> TryFused | None: ...


class Field:
    """One response key of a selection on one object type."""

    def __init__(
        self,
        compiler: Compiler,
        parent: GraphQLObjectType,
        key: str,
        rank: int,
        details: list[FieldDetails],
        definition: GraphQLField,
    ) -> None:
        """`rank` is its position among the selection's fields; `details` are all its mentions in
        the document, which are merged."""
        self.compiler, self.operation = compiler, compiler.operation
        self.parent, self.key, self.rank = parent, key, rank
        self.details, self.definition = details, definition
        self.nodes: list[FieldNode] = [detail.node for detail in details]
        self.name = self.nodes[0].name.value
        self.nonnull = isinstance(definition.type, GraphQLNonNull)

    @cached_property
    def source(self) -> Source:
        """How its values are resolved."""
        return self.compiler.source_of(self)

    @cached_property
    def completer(self) -> Completer:
        """How its values are completed."""
        return self.compiler.completer_of(self)

    def forget(self) -> None:
        """Drop what was worked out: much of it refers back to the field, in cycles."""
        for name in ("source", "completer", "about", "in_document"):
            self.__dict__.pop(name, None)

    @cached_property
    def about(self) -> tuple[tuple[Any, ...], tuple[Any, ...], OperationDefinitionNode]:
        """The parts of each resolver's `info` that are the field's: first those of the field, then
        the schema and the fragments, then the operation."""
        return (
            (self.name, self.nodes, self.definition.type, self.parent),
            (self.operation.schema, self.operation.fragments),
            self.operation.node,
        )

    @cached_property
    def in_document(self) -> GraphQLError:
        """An error with the locations of the field's nodes in the document."""
        return GraphQLError("", self.nodes)


class Selection:
    """The fields selected on one object type at one place of an operation."""

    def __init__(
        self,
        compiler: Compiler,
        type_: GraphQLObjectType,
        collected: dict[str, list[FieldDetails]],
    ) -> None:
        self._compiler, self.type = compiler, type_
        schema = compiler.operation.schema
        self.fields: list[Field] = []
        for key, details in collected.items():
            definition = schema.get_field(type_, details[0].node.name.value)
            if definition is not None:  # validation refuses unknown fields before
                self.fields.append(
                    Field(compiler, type_, key, len(self.fields), details, definition)
                )

    @cached_property
    def builder(self) -> Any:
        """Makes the response's objects, level by level: a `run.generate.ObjectBuilder`."""
        return self._compiler.builder_of(self)

    @cached_property
    def try_fused(self) -> TryFused | None:
        """The fast path; None where the selection has none."""
        return self._compiler.fused_for(self)

    def forget(self) -> None:
        """Drop what was worked out: much of it refers back to the selection, in cycles."""
        for name in ("builder", "try_fused"):
            self.__dict__.pop(name, None)
        for field in self.fields:
            field.forget()

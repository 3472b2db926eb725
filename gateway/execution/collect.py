"""What an operation selects: its fields by object type, as graphql-core collects them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
)
from graphql.execution.collect_fields import (
    FieldDetails,
    FragmentDetails,
    collect_fields,
    collect_subfields,
)
from graphql.execution.values import VariableValues

from gateway.execution.bind import Attribute, Call, Source, bind
from gateway.execution.complete import Completer, completer_of
from gateway.execution.composites import Abstract, Objects
from gateway.execution.generate import Build
from gateway.execution.lists import Listed
from gateway.execution.subtrees import NotStraight, Subtree

if TYPE_CHECKING:
    from gateway.execution.plan import Variant

INCREMENTAL = ("defer", "stream")
NO_PROPAGATION = "experimental_disableErrorPropagation"


class NotCompiled(Exception):
    """Why an operation is left to graphql-core."""


class Operation:
    """One operation of a document, with its fragments. Raises NotCompiled."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        self.schema = schema
        operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
        if name is not None:
            operations = [d for d in operations if d.name and d.name.value == name]
        if len(operations) != 1:
            raise NotCompiled("no such operation")
        self.node = operations[0]
        if self.node.operation is OperationType.SUBSCRIPTION:
            raise NotCompiled("a subscription")
        if any(d.name.value == NO_PROPAGATION for d in self.node.directives or ()):
            raise NotCompiled(f"@{NO_PROPAGATION}")
        root = schema.get_root_type(self.node.operation)
        if root is None:
            raise NotCompiled("no root type")
        self.root: GraphQLObjectType = root
        self.serial = self.node.operation is OperationType.MUTATION
        self.fragments = {
            d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
        }
        if any(d.variable_definitions for d in self.fragments.values()):
            raise NotCompiled("variables of a fragment")
        self.details = {name: FragmentDetails(d, None) for name, d in self.fragments.items()}
        self.conditions = tuple(sorted(self._conditions()))

    def _conditions(self) -> set[str]:
        """The variables that decide what is selected: those of @skip and @include."""
        found: set[str] = set()
        sets: list[SelectionSetNode] = [self.node.selection_set]
        sets += [fragment.selection_set for fragment in self.fragments.values()]
        while sets:
            for node in sets.pop().selections:
                for directive in node.directives or ():
                    directive_name = directive.name.value
                    if directive_name in INCREMENTAL:
                        raise NotCompiled(f"@{directive_name}")
                    if directive_name in ("skip", "include"):
                        for argument in directive.arguments or ():
                            if isinstance(argument.value, VariableNode):
                                found.add(argument.value.name.value)
                if isinstance(node, FieldNode | InlineFragmentNode):
                    if node.selection_set:
                        sets.append(node.selection_set)
                else:
                    assert isinstance(node, FragmentSpreadNode)
        return found

    def root_fields(self, flags: Mapping[str, Any]) -> dict[str, list[FieldDetails]]:
        collected = collect_fields(
            self.schema, self.details, VariableValues({}, dict(flags)), self.root, self.node
        )
        return collected.grouped_field_set

    def sub_fields(
        self, flags: Mapping[str, Any], type_: GraphQLObjectType, details: list[FieldDetails]
    ) -> dict[str, list[FieldDetails]]:
        collected = collect_subfields(
            self.schema, self.details, VariableValues({}, dict(flags)), self.node, type_, details
        )
        return collected.grouped_field_set


class Field:
    """One response key of a selection on one object type."""

    def __init__(
        self,
        variant: Variant,
        parent: GraphQLObjectType,
        key: str,
        rank: int,
        details: list[FieldDetails],
        definition: GraphQLField,
    ) -> None:
        self.variant, self.parent, self.key, self.rank = variant, parent, key, rank
        self.details, self.definition = details, definition
        self.nodes: list[FieldNode] = [detail.node for detail in details]
        self.name = self.nodes[0].name.value
        self.nonnull = isinstance(definition.type, GraphQLNonNull)

    @cached_property
    def source(self) -> Source:
        """How its values are got."""
        return bind(self)

    @cached_property
    def completer(self) -> Completer:
        """How they are completed."""
        return completer_of(self, self.definition.type)

    def forget(self) -> None:
        """Let go of what was worked out, much of which refers back to it."""
        for name in ("source", "completer", "about", "in_document"):
            self.__dict__.pop(name, None)

    @cached_property
    def about(self) -> tuple[tuple[Any, ...], tuple[Any, ...], OperationDefinitionNode]:
        """What each info of it starts with; the schema and fragments; the operation."""
        operation = self.variant.plan.operation
        return (
            (self.name, self.nodes, self.definition.type, self.parent),
            (operation.schema, operation.fragments),
            operation.node,
        )

    @cached_property
    def in_document(self) -> GraphQLError:
        """An error that has the places of its nodes."""
        return GraphQLError("", self.nodes)


class Selection:
    """The fields selected on one object type at one place of an operation."""

    def __init__(
        self,
        variant: Variant,
        type_: GraphQLObjectType,
        collected: dict[str, list[FieldDetails]],
    ) -> None:
        self.type = type_
        schema = variant.plan.operation.schema
        self.fields: list[Field] = []
        for key, details in collected.items():
            definition = schema.get_field(type_, details[0].node.name.value)
            if definition is not None:  # as graphql-core has it; validation refuses others
                self.fields.append(
                    Field(variant, type_, key, len(self.fields), details, definition)
                )

    @cached_property
    def build(self) -> Build:
        return Build(self)

    @cached_property
    def lone(self) -> Field | None:
        """Its only field, if one object's value is got by itself."""
        fields = self.fields
        apart = len(fields) == 1 and isinstance(fields[0].source, Attribute | Call)
        return fields[0] if apart else None

    @cached_property
    def subtree(self) -> Subtree | None:
        """What makes all below it in one go, if that can be."""
        try:
            return Subtree(self)
        except NotStraight:
            return None

    def prepared(self) -> Iterator[Selection]:
        """Work out what its objects are made with; the selections below it."""
        for field in self.fields:
            completer = field.completer
            assert field.source is not None
            while isinstance(completer, Listed):
                completer = completer.item
            if isinstance(completer, Objects):
                yield completer.selection(completer.type)
            elif isinstance(completer, Abstract):
                schema = field.variant.plan.operation.schema
                for type_ in schema.get_possible_types(completer.type):
                    yield completer.selection(type_)
        self.build.prepare()

    def forget(self) -> None:
        """Let go of what was worked out, much of which refers back to it."""
        for name in ("build", "lone", "subtree"):
            self.__dict__.pop(name, None)
        for field in self.fields:
            field.forget()

"""One operation of a document: which operations can be compiled, and how their fields are
collected.

graphql-core's own functions collect the fields (section "Field Collection" of the specification).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
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

INCREMENTAL = ("defer", "stream")
NO_PROPAGATION = "experimental_disableErrorPropagation"


class NotCompiled(Exception):
    """An operation that this executor can't run, so that graphql-core runs it. The message is the
    reason."""


class Operation:
    """One operation of a document, with the document's fragments."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        """`name` is None if the document has one operation. Raises NotCompiled."""
        self.schema = schema
        operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
        if name is not None:
            operations = [d for d in operations if d.name and d.name.value == name]
        if len(operations) != 1:
            raise NotCompiled("no such operation")
        self.node = operations[0]
        if any(d.name.value == NO_PROPAGATION for d in self.node.directives or ()):
            raise NotCompiled(f"@{NO_PROPAGATION}")
        root = schema.get_root_type(self.node.operation)
        if root is None:
            raise NotCompiled("no root type")
        self.root: GraphQLObjectType = root
        self.serial = self.node.operation is OperationType.MUTATION
        """Whether the root fields are executed one after the other, as a mutation's are."""
        self.fragments = {
            d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
        }
        if any(d.variable_definitions for d in self.fragments.values()):
            raise NotCompiled("variables of a fragment")
        self.details = {name: FragmentDetails(d, None) for name, d in self.fragments.items()}
        self.conditions = tuple(sorted(self._conditions()))
        """The names of the variables in @skip and @include, sorted."""

    def _conditions(self) -> set[str]:
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
        """The collected fields of the root selection set, by response name. `flags` are the values
        of the variables in `conditions`."""
        collected = collect_fields(
            self.schema, self.details, VariableValues({}, dict(flags)), self.root, self.node
        )
        return collected.grouped_field_set

    def sub_fields(
        self, flags: Mapping[str, Any], type_: GraphQLObjectType, details: list[FieldDetails]
    ) -> dict[str, list[FieldDetails]]:
        """The collected fields below a field, for objects of one type, by response name."""
        collected = collect_subfields(
            self.schema, self.details, VariableValues({}, dict(flags)), self.node, type_, details
        )
        return collected.grouped_field_set

"""One operation of a document: which operations can be compiled, and how their fields are
collected.

graphql-core's own functions collect the fields (section "Field Collection" of the specification).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    CollectFieldsContext,
    DeferUsage,
    FieldDetails,
    FragmentDetails,
    collect_fields,
    collect_subfields,
    does_fragment_condition_match,
    get_defer_usage,
    get_field_entry_key,
    should_include_node,
)
from graphql.execution.values import VariableValues

CONDITIONAL = ("skip", "include", "defer", "stream")
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
        self.defers = False
        """Whether a fragment has @defer, or a field has @stream."""
        self.conditions = tuple(sorted(self._conditions()))
        """The names of the variables in @skip and @include, and in `if` of @defer and @stream,
        sorted."""

    def _conditions(self) -> set[str]:
        found: set[str] = set()
        sets: list[SelectionSetNode] = [self.node.selection_set]
        sets += [fragment.selection_set for fragment in self.fragments.values()]
        while sets:
            for node in sets.pop().selections:
                for directive in node.directives or ():
                    directive_name = directive.name.value
                    self.defers = self.defers or directive_name in INCREMENTAL
                    if directive_name in CONDITIONAL:
                        for argument in directive.arguments or ():
                            is_condition = argument.name.value == "if"
                            if is_condition and isinstance(argument.value, VariableNode):
                                found.add(argument.value.name.value)
                if isinstance(node, FieldNode | InlineFragmentNode):
                    if node.selection_set:
                        sets.append(node.selection_set)
                else:
                    assert isinstance(node, FragmentSpreadNode)
        return found

    def root_fields(
        self, flags: Mapping[str, Any], begun: list[DeferUsage] | None = None
    ) -> dict[str, list[FieldDetails]]:
        """The collected fields of the root selection set, by response name. `flags` are the values
        of the variables in `conditions`. `begun` gets the deferred fragments that begin here;
        without it, the fields of deferred fragments are fields like all others."""
        values = VariableValues({}, dict(flags))
        if self.defers:
            return self._collect(values, self.root, [(self.node.selection_set, None)], begun)
        collected = collect_fields(self.schema, self.details, values, self.root, self.node)
        return collected.grouped_field_set

    def sub_fields(
        self,
        flags: Mapping[str, Any],
        type_: GraphQLObjectType,
        details: list[FieldDetails],
        begun: list[DeferUsage] | None = None,
    ) -> dict[str, list[FieldDetails]]:
        """The collected fields below a field, for objects of one type, by response name."""
        values = VariableValues({}, dict(flags))
        if self.defers:
            sets = [(one.node.selection_set, one.defer_usage) for one in details]
            return self._collect(values, type_, sets, begun)
        collected = collect_subfields(self.schema, self.details, values, self.node, type_, details)
        return collected.grouped_field_set

    def _collect(
        self,
        values: VariableValues,
        type_: GraphQLObjectType,
        sets: Sequence[tuple[SelectionSetNode | None, DeferUsage | None]],
        begun: list[DeferUsage] | None,
    ) -> dict[str, list[FieldDetails]]:
        """Collects fields as graphql-core does, but a fragment's fields once for each deferred
        fragment around its spreads. graphql-core leaves out the fields that an earlier part has;
        here a part has all fields of its fragment."""
        context = CollectFieldsContext(
            self.schema, self.details, values, self.node, type_, {}, False, [], False
        )
        found: dict[str, list[FieldDetails]] = {}
        visited: set[tuple[int, int]] = set()
        left = [(iter(one.selections), usage) for one, usage in reversed(sets) if one is not None]
        while left:
            selections, usage = left[-1]
            node = next(selections, None)
            if node is None:
                left.pop()
                continue
            if not should_include_node(context, node, values):  # type: ignore[arg-type]
                continue
            if isinstance(node, FieldNode):
                known = found.setdefault(get_field_entry_key(node), [])
                known.append(FieldDetails(node, usage))
                continue
            assert isinstance(node, InlineFragmentNode | FragmentSpreadNode)
            inner: Any = node
            if isinstance(node, FragmentSpreadNode):
                inner = self.fragments[node.name.value]
            if not does_fragment_condition_match(self.schema, inner, type_):
                continue
            own = get_defer_usage(values, None, node, usage)
            below = usage
            if begun is not None and own is not None:
                below = own
            if isinstance(node, FragmentSpreadNode):
                once = id(inner), id(usage if below is usage else own.directive_node)  # type: ignore[union-attr]
                if once in visited:
                    continue
                visited.add(once)
            if below is not usage and begun is not None:
                begun.append(below)  # type: ignore[arg-type]
            left.append((iter(inner.selection_set.selections), below))
        return found

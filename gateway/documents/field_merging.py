"""Validates that the fields with one response name can be merged (section "Field Selection Merging"
of the specification), in time linear in the number of merged fields.

graphql-core's rule compares every pair of fields. This rule compares each field with the first
field of the same response name, following the algorithm of Simon Adameit that Sangria and
graphql-java use. That is enough, because the compared relations are equivalences. The first pass
compares the shape of the values, which must be the same for all parent types. The second pass
compares field names and arguments, which must be the same for parent types that one object can
have. Each set of merged selection sets is checked once, even if several paths lead to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from graphql import (
    SKIP,
    ArgumentNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValidationContext,
    ValidationRule,
    VisitorAction,
    get_named_type,
    is_interface_type,
    is_leaf_type,
    is_object_type,
    type_from_ast,
)
from graphql.validation.rules.overlapping_fields_can_be_merged import get_value_structure
from graphql.validation.validate import ValidationAbortedError

MOST = 200_000
"""The maximum number of fields that are compared. Operations within the default limits need far
fewer. A schema whose interfaces return interfaces could need more."""


class _Member:
    """A field of a selection set, with the type that it is selected on."""

    __slots__ = ("_call", "definition", "key", "node", "parent")

    def __init__(self, parent: GraphQLNamedType | None, node: FieldNode) -> None:
        self.parent, self.node = parent, node
        self.key = (node.alias or node.name).value
        with_fields = is_object_type(parent) or is_interface_type(parent)
        self.definition = parent.fields.get(node.name.value) if with_fields else None  # type: ignore[union-attr]
        self._call: tuple[str, str] | None = None

    @property
    def call(self) -> tuple[str, str]:
        """The field's name, and its arguments as JSON, sorted by name."""
        if self._call is None:
            self._call = self.node.name.value, _arguments(self.node.arguments or ())
        return self._call

    @property
    def shape(self) -> tuple[Any, ...] | None:
        """The part of the field's type that must be the same for all fields of one response name:
        its wrappers, and the named type if it is a leaf. None if the field is unknown."""
        if self.definition is None:
            return None
        wrappers, type_ = [], self.definition.type
        while isinstance(type_, GraphQLList | GraphQLNonNull):
            wrappers.append("[" if isinstance(type_, GraphQLList) else "!")
            type_ = type_.of_type
        return (*wrappers, type_ if is_leaf_type(type_) else None)

    @property
    def streamed(self) -> bool:
        return any(one.name.value == "stream" for one in self.node.directives or ())


def _arguments(nodes: Iterable[ArgumentNode]) -> str:
    found = sorted(
        (node.name.value, json.dumps(get_value_structure(node.value, []))) for node in nodes
    )
    return json.dumps(found)


class FieldsMerge(ValidationRule):
    """Replaces graphql-core's OverlappingFieldsCanBeMergedRule, and accepts the same documents.

    An error names the innermost fields that conflict; graphql-core's names the outermost.
    """

    context: ValidationContext

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self._members: dict[int, tuple[list[_Member], list[str]]] = {}
        """By the id of a selection set: its fields, including the fields of inline fragments, and
        the names of its fragment spreads."""
        self._seen: set[tuple[str, frozenset[int]]] = set()
        self._spent = 0

    def enter_fragment_definition(self, *_: Any) -> VisitorAction:
        return SKIP

    def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> VisitorAction:
        sets: _Sets = [(self.context.schema.get_root_type(node.operation), node.selection_set)]
        if self._same_shapes(sets):
            self._same_calls(sets)
        return SKIP

    def _same_shapes(self, sets: _Sets) -> bool:
        """Report fields of one response name whose values differ in shape. Returns whether there
        are none."""
        fine = True
        for group in self._by_key(sets, "shape"):
            first = next((one for one in group if one.shape is not None), group[0])
            for other in group[1:]:
                if first.streamed or other.streamed:
                    self._report(first, other, "they have overlapping stream directives")
                    return False
                if other is not first and other.shape is not None and first.shape != other.shape:
                    assert first.definition is not None
                    assert other.definition is not None
                    types = f"'{first.definition.type}' and '{other.definition.type}'"
                    self._report(first, other, f"they return conflicting types {types}")
                    return False
            fine = self._same_shapes(_below(group)) and fine
        return fine

    def _same_calls(self, sets: _Sets) -> None:
        """Report fields of one response name that differ in field name or arguments, if one object
        can have both."""
        for group in self._by_key(sets, "calls"):
            for common in _with_common_parents(group):
                first = common[0]
                for other in common[1:]:
                    if first.call != other.call:
                        names = f"'{first.call[0]}' and '{other.call[0]}' are different fields"
                        differ = first.call[0] != other.call[0]
                        self._report(
                            first, other, names if differ else "they have differing arguments"
                        )
                        return
                self._same_calls(_below(common))

    def _by_key(self, sets: _Sets, purpose: str) -> Iterable[list[_Member]]:
        """The fields of merged selection sets, grouped by response name. Empty if this pass
        (`purpose`) has checked these selection sets already."""
        key = purpose, frozenset([id(selection_set) for _, selection_set in sets])
        if not sets or key in self._seen:
            return ()
        self._seen.add(key)
        groups: dict[str, list[_Member]] = {}
        spread: set[str] = set()
        left: list[tuple[GraphQLNamedType | None, SelectionSetNode]] = list(reversed(sets))
        visited: set[int] = set()
        while left:
            parent, selection_set = left.pop()
            if id(selection_set) in visited:
                continue
            visited.add(id(selection_set))
            members, spreads = self._collected(parent, selection_set)
            self._spend(len(members) + 1)
            for member in members:
                groups.setdefault(member.key, []).append(member)
            for name in spreads:
                fragment = None if name in spread else self.context.get_fragment(name)
                spread.add(name)
                if fragment is not None:
                    type_ = type_from_ast(self.context.schema, fragment.type_condition)
                    left.append((type_, fragment.selection_set))
        return groups.values()

    def _collected(
        self, parent: GraphQLNamedType | None, selection_set: SelectionSetNode
    ) -> tuple[list[_Member], list[str]]:
        found = self._members.get(id(selection_set))
        if found is not None:
            return found
        members: list[_Member] = []
        spreads: list[str] = []
        left = [(parent, selection_set)]
        while left:
            type_, inner = left.pop()
            for node in inner.selections:
                if isinstance(node, FieldNode):
                    members.append(_Member(type_, node))
                elif isinstance(node, FragmentSpreadNode):
                    spreads.append(node.name.value)
                elif isinstance(node, InlineFragmentNode):
                    condition = node.type_condition
                    on = type_from_ast(self.context.schema, condition) if condition else type_
                    left.append((on, node.selection_set))
        self._members[id(selection_set)] = members, spreads
        return members, spreads

    def _spend(self, fields: int) -> None:
        self._spent += fields
        if self._spent > MOST:
            raise ValidationAbortedError(
                "The document's fields merge in too many ways to be validated."
            )

    def _report(self, first: _Member, other: _Member, reason: str) -> None:
        self.report_error(
            GraphQLError(
                f"Fields '{first.key}' conflict because {reason}. Use different aliases on the "
                "fields to fetch both if this was intentional.",
                [first.node, other.node],
            )
        )


_Sets = list[tuple[GraphQLNamedType | None, SelectionSetNode]]
"""Merged selection sets, each with the type that it is selected on."""


def _below(group: list[_Member]) -> _Sets:
    return [
        (get_named_type(one.definition.type) if one.definition else None, one.node.selection_set)
        for one in group
        if one.node.selection_set is not None
    ]


def _with_common_parents(group: list[_Member]) -> list[list[_Member]]:
    """Groups the fields by object type. Each group also has the fields that are selected on
    interfaces and unions."""
    objects: dict[GraphQLNamedType, list[_Member]] = {}
    for one in group:
        if is_object_type(one.parent):
            objects.setdefault(one.parent, [])
    if len(objects) < 2:
        return [group]
    for one in group:
        if is_object_type(one.parent):
            objects[one.parent].append(one)
        else:
            for members in objects.values():
                members.append(one)
    return list(objects.values())

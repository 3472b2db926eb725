"""How long shared caches may keep an answer to a query: the minimum of the hints of its fields
(`schema/caching.py`).

All selected fields count, even below @skip, @include and fragments on other types. The age is
therefore never higher than the one of the fields in the answer.
"""

from typing import Any, cast

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    is_abstract_type,
    is_composite_type,
)
from graphql import get_named_type as named_type
from strawberry.schema.schema_converter import GraphQLCoreConverter

from schema.caching import CacheControl


class Caching:
    """The hints of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema

    def max_age(self, document: DocumentNode, operation: OperationDefinitionNode) -> int:
        """The seconds for which the answer to an operation of a valid document may be kept; 0 if it
        may not be."""
        root = self._schema.query_type
        if operation.operation is not OperationType.QUERY or root is None:
            return 0
        fragments = {
            one.name.value: one
            for one in document.definitions
            if isinstance(one, FragmentDefinitionNode)
        }
        least: int | None = None
        left: list[tuple[SelectionSetNode, GraphQLNamedType]] = [(operation.selection_set, root)]
        while left:
            selected, type_ = left.pop()
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    field = self._schema.get_field(cast(GraphQLObjectType, type_), node.name.value)
                    if field is None or node.name.value == "__typename":
                        continue
                    age = self._age(field, is_root=type_ is root)
                    if age == 0:
                        return 0
                    if age is not None:
                        least = age if least is None else min(least, age)
                    if node.selection_set is not None:
                        left.append((node.selection_set, named_type(field.type)))
                    continue
                inner: FragmentDefinitionNode | InlineFragmentNode
                if isinstance(node, FragmentSpreadNode):
                    name = node.name.value
                    if name not in fragments:  # it was spread before
                        continue
                    inner = fragments.pop(name)
                else:
                    inner = cast(InlineFragmentNode, node)
                on = inner.type_condition
                below = self._schema.get_type(on.name.value) if on is not None else type_
                left.append((inner.selection_set, cast(GraphQLNamedType, below)))
        return least or 0

    def _age(self, field: GraphQLField, *, is_root: bool) -> int | None:
        """The seconds for which a field may be kept; None if it is kept as long as its object."""
        hint, type_ = _hint(field), named_type(field.type)
        if hint is None and is_composite_type(type_):
            possible: list[GraphQLNamedType] = [type_]
            if is_abstract_type(type_):
                possible = list(self._schema.get_possible_types(type_))
            hints = [_hint(each) for each in possible]
            ages = [0 if each is None else each.max_age for each in hints]
            hint = hints[ages.index(min(ages))]
            if hint is None:
                return 0
        if hint is None:
            return 0 if is_root else None
        if hint.inherit_max_age:
            return 0 if is_root else None
        return hint.max_age


def _hint(definition: GraphQLField | GraphQLNamedType) -> CacheControl | None:
    behind: Any = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    for directive in getattr(behind, "directives", None) or ():
        if isinstance(directive, CacheControl):
            return directive
    return None

"""The cost of introspection: what `__schema` and `__type` make, counted in the schema.

An operation may request the whole schema thirty times, under aliases. That reads nothing, but makes
thousands of values each time. The lengths of the lists differ by a factor of a hundred from type to
type, so an average would charge one selection far too much, and another one far too little. The
values of a selection are therefore counted for each element of the schema: a type (with its
wrappers), a field, an argument, an enum value, a directive. All elements of a kind are counted
together, so that a selection takes time linear in the schema, however often it is spread.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, cast

from graphql import (
    ArgumentNode,
    BooleanValueNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionNode,
    SelectionSetNode,
    VariableNode,
    is_composite_type,
)
from graphql import get_named_type as named_type
from graphql.type.introspection import introspection_types

from gateway.cost.rules import ERROR, OBJECT, is_list, named

VALUE = 0.3
"""The cost of a value without fields. It is higher than elsewhere (`LEAF`), because a function of
graphql-core resolves each value."""

VALUES = {("__InputValue", "defaultValue"): 2.0}
"""The cost of a value that is printed for each request."""
ROOTS = ("__schema", "__type")

Column = list[float]
"""A cost for each element of a kind, by the element's number."""
Costs = tuple[float, Column | None]
"""The cost of one selection for each element of a kind: a constant, and a column that is added."""


class _Edges:
    """The elements that one field returns, for each element of a kind. `targets` are the numbers of
    all returned elements, and `starts` says where each element's part begins."""

    def __init__(self, kind: str | None) -> None:
        self.kind = kind
        """The returned kind; None for a list of values without fields."""
        self.targets: list[int] = []
        self.starts = [0]

    def add(self, targets: Iterable[int]) -> None:
        self.targets += targets
        self.starts.append(len(self.targets))

    @cached_property
    def lengths(self) -> list[int]:
        """The number of elements that each element's field returns. Read when all are added."""
        return [stop - start for start, stop in pairwise(self.starts)]

    def summed(self, costs: Costs) -> Column:
        """The costs of the returned elements, added up for each element."""
        same, column = costs
        if column is None:
            return [same * length for length in self.lengths]
        sums = list(accumulate(map(column.__getitem__, self.targets), initial=0.0))
        starts, lengths = self.starts, self.lengths
        return [
            sums[stop] - sums[start] + same * length
            for start, stop, length in zip(starts, starts[1:], lengths, strict=False)
        ]


class Elements:
    """The elements of a schema, by the name of their kind, which is the introspection type that
    shows them. `edges` are the edges by kind, by field, and by whether deprecated elements are
    included."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self.numbers: dict[str, dict[object, int]] = {name: {} for name in introspection_types}
        self._all: dict[str, list[Any]] = {name: [] for name in introspection_types}
        self.edges: dict[tuple[str, str, bool], _Edges] = {}
        self._number("__Schema", schema)
        for type_ in schema.type_map.values():
            self._number("__Type", type_)
        self._walk()

    def type_number(self, name: object) -> int | None:
        """The number of a named type; None if the schema has no such type."""
        return self.numbers["__Type"].get(name) if isinstance(name, str) else None

    def _walk(self) -> None:
        """Add all edges, and the elements that they lead to."""
        fields = [
            (kind, name, field)
            for kind, type_ in introspection_types.items()
            if isinstance(type_, GraphQLObjectType)
            for name, field in type_.fields.items()
        ]
        done: dict[tuple[str, str, bool], int] = {}
        before = -1
        while before != (before := sum(map(len, self._all.values()))) or not done:
            for kind, name, field in fields:
                for deprecated in (False, True):
                    self._add_edges(kind, name, field, deprecated, done)

    def _add_edges(
        self,
        kind: str,
        name: str,
        field: GraphQLField,
        deprecated: bool,
        done: dict[tuple[str, str, bool], int],
    ) -> None:
        below = named_type(field.type)
        target = below.name if is_composite_type(below) else None
        if target is None and not is_list(field):
            return
        key = (kind, name, deprecated)
        edges = self.edges.setdefault(key, _Edges(target))
        given = {"includeDeprecated": deprecated} if "includeDeprecated" in field.args else {}
        resolve = cast(Callable[..., Any], field.resolve)
        for element in self._all[kind][done.get(key, 0) :]:
            found = resolve(element, SimpleNamespace(schema=self._schema), **given)
            listed = [] if found is None else list(found) if is_list(field) else [found]
            edges.add([self._number(target, one) if target else 0 for one in listed])
        done[key] = len(edges.starts) - 1

    def _number(self, kind: str, element: Any) -> int:
        key: object = element
        if kind == "__Type":
            key = str(element)
        elif isinstance(element, tuple):  # a name and its field, argument or enum value
            key = (element[0], id(element[1]))
        elif kind != "__Schema":
            key = id(element)
        numbers = self.numbers[kind]
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers)
            self._all[kind].append(element)
        return number


class Introspection:
    """The introspection of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema

    @cached_property
    def elements(self) -> Elements:
        return Elements(self._schema)


class Selections:
    """The costs of the selections of one document on introspection types."""

    def __init__(
        self,
        introspection: Introspection,
        fragments: Mapping[str, FragmentDefinitionNode],
        included: Callable[[SelectionNode], bool],
    ) -> None:
        """`included`: whether a selection counts, as far as its @skip and @include are constant."""
        self._elements = introspection.elements
        self._fragments, self._included = fragments, included
        self._known: dict[tuple[int, str], Costs] = {}

    def schema(self, selected: SelectionSetNode) -> float:
        """The cost of `__schema`."""
        return _cost(self._objects(selected, "__Schema"), 0)

    def type_(self, selected: SelectionSetNode) -> Callable[[object], float]:
        """The cost of `__type`, by the name of the type, which is null if there is none."""
        costs, number_of = self._objects(selected, "__Type"), self._elements.type_number

        def cost(name: object) -> float:
            number = number_of(name)
            return VALUE if number is None else _cost(costs, number)

        return cost

    def _objects(self, selected: SelectionSetNode, kind: str) -> Costs:
        """The cost of an object with this selection, for each element of the kind."""
        same, column = self._fields(selected, kind)
        return OBJECT + same, column

    def _fields(self, selected: SelectionSetNode, kind: str) -> Costs:
        key = (id(selected), kind)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._added(selected, kind)
        return known

    def _added(self, selected: SelectionSetNode, kind: str) -> Costs:
        same, spread = 0.0, set[str]()
        columns: list[Column] = []
        for node in selected.selections:
            if not self._included(node):
                continue
            if isinstance(node, FieldNode):
                same += VALUES.get((kind, node.name.value), VALUE) + named(node)
                same += ERROR if _may_fail(node) else 0.0
                edges = self._edges(node, kind)
                if edges is not None and edges.kind is None:
                    columns.append(edges.summed((VALUE, None)))
                elif edges is not None and node.selection_set is not None:
                    below = self._objects(node.selection_set, edges.kind or "")
                    columns.append(edges.summed(below))
                continue
            if isinstance(node, FragmentSpreadNode):
                if node.name.value in spread:
                    continue
                spread.add(node.name.value)
                inner: Any = self._fragments[node.name.value]
            else:
                inner = cast(InlineFragmentNode, node)
            condition = inner.type_condition
            if condition is None or condition.name.value == kind:
                more, column = self._fields(inner.selection_set, kind)
                same += more
                columns += [column] if column is not None else []
        if len(columns) < 2:
            return same, columns[0] if columns else None
        return same, list(map(sum, zip(*columns, strict=True)))

    def _edges(self, node: FieldNode, kind: str) -> _Edges | None:
        return self._elements.edges.get((kind, node.name.value, _deprecated(node.arguments)))


def _cost(costs: Costs, number: int) -> float:
    same, column = costs
    return same if column is None else same + column[number]


def _may_fail(node: FieldNode) -> bool:
    """Whether arguments may be wrong: a variable may be null where null is not allowed."""
    return any(isinstance(argument.value, VariableNode) for argument in node.arguments or ())


def _deprecated(arguments: Iterable[ArgumentNode] | None) -> bool:
    """Whether deprecated elements may be included: always, if a variable says so."""
    return any(
        not (isinstance(argument.value, BooleanValueNode) and not argument.value.value)
        for argument in arguments or ()
    )

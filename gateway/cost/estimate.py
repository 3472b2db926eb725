"""An operation's estimated cost, compiled from its document before it runs.

The estimate is never lower than what the operation reads and makes, except for hidden entries
(`resolvers.scan_limit`), which have their own limit. Fields that GraphQL merges count once, unless
one of them depends on a variable. Selections that are merged in several places are computed once
for each type. The limit on selections (`max_query_selections`) bounds the work. A list counts as
long as its slicing argument allows, and all objects of an abstract type count as its most expensive
type.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, cast

from graphql import (
    DirectiveNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    is_abstract_type,
    value_from_ast_untyped,
)
from graphql import get_named_type as named_type

from gateway.cost.introspection import ROOTS, VALUE, Introspection, Selections
from gateway.cost.program import NOTHING, Amount, Factor, Part, Program, Sum, Variables
from gateway.cost.rules import ERROR, LEAF, OBJECT, Rule, is_list, named, rule_of

A_CALL = 1.0
"""The cost of a call of a store."""
DEAREST = 10**15
"""The highest estimate. Higher estimates are reported as this."""

_Fragment = FragmentDefinitionNode | InlineFragmentNode
_Sets = tuple[SelectionSetNode, ...]
_Parts = tuple[Part, Part]
"""The cost of a selection, and its cost for each entry of the lists whose size the field above it
sets."""


class Rules:
    """The costs of one schema's fields, and its types."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema
        self._rules: dict[int, Rule] = {}
        self.introspection = Introspection(schema)

    def of(self, field: GraphQLField) -> Rule:
        rule = self._rules.get(id(field))
        if rule is None:
            rule = self._rules[id(field)] = rule_of(field)
        return rule

    def types(self, type_: GraphQLNamedType) -> list[GraphQLObjectType]:
        """The object types that a field of this type can return."""
        if is_abstract_type(type_):
            return list(self.schema.get_possible_types(type_))
        return [cast(GraphQLObjectType, type_)]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of one operation, by its variables."""

    _program: Program
    _part: Part
    _defaults: Mapping[str, Any]

    def amount(self, variables: Mapping[str, Any] | None) -> Amount:
        """The rows and the calls, for the variables as they were sent."""
        if type(self._part) is Amount:
            return self._part
        return self._program.evaluate(self._part, {**self._defaults, **(variables or {})})

    def cost(self, variables: Mapping[str, Any] | None) -> int:
        """The number that is compared with the limit."""
        return self.costs(variables)[0]

    def costs(self, variables: Mapping[str, Any] | None) -> tuple[int, int]:
        """The number that is compared with the limit, and the same without tolls: the work."""
        rows, calls, toll = self.amount(variables)
        work = rows + calls * A_CALL
        cost = ceil(min(work + toll, DEAREST))
        return cost, ceil(min(work, DEAREST)) if toll else cost


def estimate_of(
    rules: Rules, document: DocumentNode, operation: OperationDefinitionNode
) -> Estimate:
    """The cost of an operation of a valid document."""
    defaults = {
        d.variable.name.value: value_from_ast_untyped(d.default_value)
        for d in operation.variable_definitions or ()
        if d.default_value is not None
    }
    compiling = _Compiling(rules, document)
    root = rules.schema.get_root_type(operation.operation)
    if root is None:
        return Estimate(compiling.program, NOTHING, defaults)
    total = Sum(compiling.program)
    total.add(Amount(OBJECT, 0.0))  # the response's data
    total.add(compiling.selection((operation.selection_set,), root, frozenset())[0])
    return Estimate(compiling.program, total.part(), defaults)


class _Compiling:
    """One document during its compilation to a program."""

    def __init__(self, rules: Rules, document: DocumentNode) -> None:
        self.program = Program()
        self._rules = rules
        self._fragments = {
            d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
        }
        self._known: dict[tuple[tuple[int, ...], str, frozenset[str]], _Parts] = {}
        self._introspected: Selections | None = None

    def selection(self, selected: _Sets, type_: GraphQLObjectType, sized: frozenset[str]) -> _Parts:
        """The cost of selection sets that are merged, on an object of this type."""
        selected = tuple(self._without_spread(each, type_) for each in selected)
        key = (tuple(dict.fromkeys(map(id, selected))), type_.name, sized)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._selection(selected, type_, sized)
        return known

    def _selection(
        self, selected: _Sets, type_: GraphQLObjectType, sized: frozenset[str]
    ) -> _Parts:
        whole, each = Sum(self.program), Sum(self.program)

        def add_fields(nodes: list[FieldNode], factor: int | None = None) -> None:
            of_entry = nodes[0].name.value in sized
            part = self._field(nodes, type_, of_entry)
            if part is not None:
                (each if of_entry else whole).add(part, factor=factor)

        merged: dict[str, list[FieldNode]] = {}
        for node, factor in self._collected(selected, type_):
            if not isinstance(node, FieldNode):
                parts = self.selection((node.selection_set,), type_, sized)
                whole.add(parts[0], factor=factor)
                each.add(parts[1], factor=factor)
            elif factor is None:
                merged.setdefault((node.alias or node.name).value, []).append(node)
            else:
                add_fields([node], factor)
        for nodes in merged.values():
            add_fields(nodes)
        return whole.part(), each.part()

    def _without_spread(
        self, selected: SelectionSetNode, type_: GraphQLObjectType
    ) -> SelectionSetNode:
        """The selection set of the fragment if a selection set is a single spread, so that it is
        computed once for all its spreads."""
        while len(selected.selections) == 1:
            [node] = selected.selections
            if isinstance(node, FieldNode) or _condition(self.program, node.directives) is not None:
                break
            inner: _Fragment
            if isinstance(node, FragmentSpreadNode):
                inner = self._fragments[node.name.value]
            else:
                inner = cast(InlineFragmentNode, node)
            if not self._applies(inner, type_):
                break
            selected = inner.selection_set
        return selected

    def _collected(
        self, selected: _Sets, type_: GraphQLObjectType
    ) -> Iterator[tuple[FieldNode | _Fragment, int | None]]:
        """The fields of selection sets and of the fragments in them, and the fragments that depend
        on a variable, whose fields are not merged with others: each with its factor."""
        spread: set[str] = set()
        left = [iter(each.selections) for each in reversed(selected)]
        while left:
            node = next(left[-1], None)
            if node is None:
                left.pop()
                continue
            factor = _condition(self.program, node.directives)
            if factor is False:
                continue
            if isinstance(node, FieldNode):
                yield node, factor
                continue
            if isinstance(node, FragmentSpreadNode):
                if node.name.value in spread:
                    continue
                if factor is None:
                    spread.add(node.name.value)
                inner: _Fragment = self._fragments[node.name.value]
            else:
                inner = cast(InlineFragmentNode, node)
            if not self._applies(inner, type_):
                continue
            if factor is None:
                left.append(iter(inner.selection_set.selections))
            else:
                yield inner, factor

    def _applies(self, fragment: _Fragment, type_: GraphQLObjectType) -> bool:
        if fragment.type_condition is None:
            return True
        condition = self._rules.schema.get_type(fragment.type_condition.name.value)
        return condition is type_ or (
            is_abstract_type(condition) and self._rules.schema.is_sub_type(condition, type_)
        )

    def _field(
        self, nodes: list[FieldNode], type_: GraphQLObjectType, of_entry: bool
    ) -> Part | None:
        """The cost of a field for one parent; for a field that sets the length of its lists, the
        cost for each entry. Several nodes are merged to one field: only their selections differ."""
        node = nodes[0]
        definition = self._rules.schema.get_field(type_, node.name.value)
        if definition is None:
            return None
        if node.name.value == "__typename":
            return Amount(LEAF + named(node), 0.0)
        if node.name.value in ROOTS and node.selection_set is not None:
            total = Sum(self.program)
            for one in nodes:
                total.add(self._introspection(one, cast(SelectionSetNode, one.selection_set)))
            return total.part()
        rule = self._rules.of(definition)
        if node.selection_set is None:
            rows, calls, toll = rule.alone
            return Amount(rows + named(node) + (ERROR if node.arguments else 0.0), calls, toll)
        sets = {id(one.selection_set): one.selection_set for one in nodes if one.selection_set}
        below: list[_Parts] = [
            self.selection(tuple(sets.values()), possible, rule.sized)
            for possible in self._rules.types(named_type(definition.type))
        ]
        rest = self.program.most([parts[0] for parts in below])
        each = self.program.most([parts[1] for parts in below])
        total = Sum(self.program)
        total.add(Amount(rule.weight + named(node), rule.calls, rule.toll))
        for name, weight in rule.inputs:
            self._add_input(total, node, name, weight)
        if rule.orders:
            self._add_sorting(total, node, rule)
        if of_entry or not (rule.sized or is_list(definition)):
            total.add(Amount(rule.made, 0.0))
            total.add(rest)
            total.add(each)
            return total.part()
        size, factor = self._size(node, rule)
        total.add(Amount(rule.entries, 0.0))
        total.add(Amount(rule.entries, 0.0), size, factor)
        if rule.sized:  # one object that has lists of this length
            total.add(Amount(rule.made, 0.0))
            total.add(rest)
            total.add(each, size, factor)
        else:
            total.add(Amount(ERROR if node.arguments else 0.0, 0.0))
            total.add(Amount(rule.made, 0.0), size, factor)
            total.add(rest, size, factor)
            total.add(each, size, factor)
        return total.part()

    def _introspection(self, node: FieldNode, selected: SelectionSetNode) -> Part:
        """The cost of `__schema` or `__type`."""
        if self._introspected is None:
            program = self.program  # with `self`, it would be a cycle of references
            self._introspected = Selections(
                self._rules.introspection,
                self._fragments,
                lambda node: _condition(program, node.directives) is not False,
            )
        own = VALUE + named(node)
        if node.name.value == "__schema":
            return Amount(own + self._introspected.schema(selected), 0.0)
        cost, value = self._introspected.type_(selected), _argument(node, "name")
        total = Sum(self.program)
        total.add(Amount(own, 0.0))
        if isinstance(value, VariableNode):
            name = value.name.value
            key = (id(selected), name, "__type")
            factor = self.program.factor(key, lambda variables: cost(variables.get(name)))
            total.add(Amount(1.0, 0.0), factor=factor)
        else:
            total.add(Amount(cost(getattr(value, "value", None)), 0.0))
        return total.part()

    def _size(self, node: FieldNode, rule: Rule) -> tuple[float, int | None]:
        """The length of a field's list: a constant, or a factor. Of several slicing arguments, the
        largest counts; an argument after the first counts only if it has a value."""
        if not rule.slicing:
            return float(rule.most), None
        lengths = [_length(rule.most, rule.unsliced)]
        lengths += [_length(rule.most, 0)] * (len(rule.slicing) - 1)
        constant, variable = 0.0, list[tuple[str, Callable[[Any], float]]]()
        for name, length in zip(rule.slicing, lengths, strict=True):
            value = _argument(node, name)
            if isinstance(value, VariableNode):
                variable.append((value.name.value, length))
            else:
                constant = max(constant, length(None if value is None else _literal(value)))
        if not variable:
            return constant, None

        def size(variables: Variables) -> float:
            return max(constant, *(length(variables.get(name)) for name, length in variable))

        return 1.0, self.program.factor((constant, *variable), size)

    def _add_input(self, total: Sum, node: FieldNode, field: str, weight: float) -> None:
        value = _argument(node, "input")
        part = Amount(weight, 0.0)
        if isinstance(value, ObjectValueNode):
            given = next((f.value for f in value.fields if f.name.value == field), None)
            if isinstance(given, VariableNode):
                total.add(part, factor=self._count(given.name.value, None))
            elif given is not None:
                total.add(part, len(given.values) if isinstance(given, ListValueNode) else 1)
        elif isinstance(value, VariableNode):
            total.add(part, factor=self._count(value.name.value, field))

    def _add_sorting(self, total: Sum, node: FieldNode, rule: Rule) -> None:
        value, orders = _argument(node, "orderBy"), rule.orders
        if isinstance(value, EnumValueNode) and value.value in orders:
            total.add(rule.sorting)
        elif isinstance(value, VariableNode):
            name = value.name.value
            factor = self.program.factor(
                (name, orders), lambda variables: float(_is_one_of(variables.get(name), orders))
            )
            total.add(rule.sorting, factor=factor)

    def _count(self, name: str, field: str | None) -> int:
        """The number of values in a variable, or in a field of its value."""

        def count(variables: Variables) -> float:
            value = variables.get(name)
            if field is not None:
                value = value.get(field) if isinstance(value, dict) else None
            return float(len(value)) if isinstance(value, list) else float(value is not None)

        return self.program.factor((name, field, "values"), count)


def _condition(program: Program, directives: tuple[DirectiveNode, ...] | None) -> int | bool | None:
    """The factor of @skip and @include: None if the selection always counts, False if it never
    does. A second directive that depends on a variable is ignored."""
    found: int | None = None
    for directive in directives or ():
        name = directive.name.value
        if name not in ("skip", "include"):
            continue
        for argument in directive.arguments or ():
            if isinstance(argument.value, VariableNode):
                variable = argument.value.name.value
                found = program.factor((variable, name), _flag(variable, name))
            elif value_from_ast_untyped(argument.value) is not (name == "include"):
                return False
    return found


def _is_one_of(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def _argument(node: FieldNode, name: str) -> ValueNode | None:
    return next((a.value for a in node.arguments or () if a.name.value == name), None)


def _literal(value: ValueNode) -> Any:
    if isinstance(value, IntValueNode):
        # int() takes long for very many digits, and Python refuses it.
        return int(value.value) if len(value.value) < 12 else 2**31
    if isinstance(value, ListValueNode):
        return value.values
    return None if isinstance(value, NullValueNode) else value


@cache
def _length(most: int, unsliced: int) -> Callable[[Any], float]:
    """Reads the value of a slicing argument; for a list, its length. A missing value counts as the
    schema's default, and an invalid value as the longest list, because it is refused later."""

    def length(value: Any) -> float:
        if value is None:
            return float(unsliced)
        if isinstance(value, list | tuple):
            return float(min(len(value), most))
        # A page of no entries is an error, which costs as much as an entry.
        return float(min(max(value, 1), most)) if isinstance(value, int) else float(most)

    return length


def _flag(variable: str, directive: str) -> Factor:
    skips = directive == "skip"
    return lambda variables: float(variables.get(variable) is not skips)

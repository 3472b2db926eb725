"""The cost of each field of a schema, read from its directives (`schema.costs`)."""

from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    is_composite_type,
)
from graphql import get_named_type as named_type
from strawberry.schema.schema_converter import GraphQLCoreConverter

from gateway.cost.program import Amount
from schema.costs import Cost, ListSize, Reads, Sorts, Toll

OBJECT = 1.0
"""The cost of making an object: IBM's default."""
LEAF = 0.1
"""The cost of a value without fields: very many of them must count, too."""
ERROR = 4.0
"""The further cost of a list or a value whose arguments may be wrong: they are an error for each
parent, which is recorded, ordered and written. A page costs as much by itself."""
NAME, NAME_BYTES = 32, 200
"""A response name costs 1 for each `NAME_BYTES` characters, if it is longer than `NAME`: the
response repeats it in each object and in the path of each error."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A field's cost: `weight` and `toll` for each parent, `made` for each value, `calls` once,
    `entries` for each place of its list and one more. `slicing` names the arguments with the list's
    length, of which the largest counts, `most` limits it, and `unsliced` is the default of the
    first. `sized` are the fields below that have
    this length.
    `inputs` are the weights of the fields of its argument `input`."""

    weight: float
    toll: float
    made: float
    calls: float
    entries: float
    slicing: tuple[str, ...]
    most: int
    unsliced: int
    sized: frozenset[str]
    inputs: tuple[tuple[str, float], ...]
    orders: frozenset[str]
    """The values of its argument `orderBy` that cost `sorting` more."""
    sorting: Amount
    alone: Amount
    """The cost of the field when nothing is selected below it."""


def rule_of(field: GraphQLField) -> Rule:
    """The rule of a field of any schema. Without directives, IBM's defaults."""
    cost, size, reads, toll = Cost(weight="0"), ListSize(), Reads(calls=0), 0.0
    sorts = Sorts(orders=[], calls=0, entries=0)
    for directive in _directives(field):
        if isinstance(directive, Cost):
            cost = directive
        elif isinstance(directive, ListSize):
            size = directive
        elif isinstance(directive, Reads):
            reads = directive
        elif isinstance(directive, Sorts):
            sorts = directive
        elif isinstance(directive, Toll):
            toll = float(directive.weight)
    slicing = tuple(size.slicing_arguments or ())
    most = 1 if size.assumed_size is None else size.assumed_size
    default = field.args[slicing[0]].default_value if slicing else None
    made = OBJECT if is_composite_type(named_type(field.type)) else LEAF
    return Rule(
        weight=float(cost.weight),
        toll=toll,
        made=made,
        calls=float(reads.calls),
        entries=float(reads.entries),
        slicing=slicing,
        most=most,
        unsliced=default if isinstance(default, int) else most,
        sized=frozenset(size.sized_fields or ()),
        inputs=_inputs(field),
        orders=frozenset(sorts.orders),
        sorting=Amount(float(sorts.entries), float(sorts.calls)),
        alone=Amount(
            float(cost.weight) + made * (most if is_list(field) else 1), reads.calls, toll
        ),
    )


def named(node: FieldNode) -> float:
    """The cost of a long response name."""
    name = node.alias or node.name
    return max(len(name.value) - NAME, 0) / NAME_BYTES


def is_list(field: GraphQLField) -> bool:
    type_ = field.type
    if isinstance(type_, GraphQLNonNull):
        type_ = type_.of_type
    return isinstance(type_, GraphQLList)


def _inputs(field: GraphQLField) -> tuple[tuple[str, float], ...]:
    argument = field.args.get("input")
    type_ = named_type(argument.type) if argument else None
    if not isinstance(type_, GraphQLInputObjectType):
        return ()
    return tuple(
        (name, float(directive.weight))
        for name, given in type_.fields.items()
        for directive in _directives(given)
        if isinstance(directive, Cost)
    )


def _directives(definition: GraphQLField | GraphQLInputField) -> list[Any]:
    behind = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    return list(getattr(behind, "directives", None) or ())

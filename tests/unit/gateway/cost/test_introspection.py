"""The estimate of an introspection operation follows what the operation makes."""

import random
from typing import Any

import pytest
from graphql import (
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    get_introspection_query,
    is_composite_type,
    parse,
    specified_rules,
    validate,
)
from graphql import get_named_type as named_type
from graphql.execution import experimental_execute_incrementally
from graphql.type.introspection import introspection_types

from gateway.cost.estimate import Rules, estimate_of
from gateway.cost.introspection import VALUE, VALUES
from gateway.cost.rules import OBJECT
from schema import schema as ours
from tests.scale import scaled

SDL = """
directive @old(a: Int @deprecated, b: [String!]! = ["x"]) repeatable on FIELD | QUERY
scalar Url @specifiedBy(url: "https://url.example")
enum Color { RED GREEN @deprecated BLUE }
interface Node { id: ID! }
interface Named implements Node { id: ID! name(long: Boolean = false): String }
type Cat implements Named & Node { id: ID! name(long: Boolean = false): String color: Color }
type Dog implements Node {
  id: ID!
  friends(first: Int!, of: Filter, old: Int @deprecated): [[Dog!]!]!
}
union Pet = Cat | Dog
input Filter @oneOf { color: Color nested: Filter old: Int @deprecated url: Url }
type Query {
  pets(by: [Filter!]): [Pet!]!
  old: Int @deprecated(reason: "old")
  cat: Cat
  nodes: [Node]
}
type Mutation { a(x: Int = 1): Int }
"""
SCHEMAS: dict[str, GraphQLSchema] = {"ours": ours._schema, "small": build_schema(SDL)}
RULES_OF = {name: Rules(schema) for name, schema in SCHEMAS.items()}
RULES = [rule for rule in specified_rules if rule.__name__ != "MaxIntrospectionDepthRule"]
"""All rules but one, which refuses more than two lists within lists."""
LISTS_OF_NULL = 3.0
"""How many times too high the estimate may be: it counts lists as values, too."""


def values(answer: Any, kind: str = "") -> float:
    """The cost of making an answer: its objects, and its other values."""
    if isinstance(answer, dict):
        return OBJECT + sum(values(value, key.split("__")[0]) for key, value in answer.items())
    if isinstance(answer, list):
        return sum(values(item) for item in answer)
    return VALUES.get(("__InputValue", kind), VALUE)


def compared(
    schema: GraphQLSchema, rules: Rules, text: str, **variables: Any
) -> tuple[float, float]:
    """The estimate of an operation, and the cost of what it makes."""
    document = parse(text)
    assert not validate(schema, document, RULES), text
    operation: Any = document.definitions[0]
    result: Any = experimental_execute_incrementally(schema, document, variable_values=variables)
    assert not result.errors, result.errors
    return estimate_of(rules, document, operation).amount(variables).rows, values(result.data)


class Drawn:
    """A random introspection operation. Aliases keep all selections apart."""

    def __init__(self, schema: GraphQLSchema, seed: int) -> None:
        self.drawing, self._schema = random.Random(seed), schema
        self._fragments: list[str] = []
        self._declared: list[str] = []
        self.variables: dict[str, Any] = {}
        self._aliases = 0

    def query(self) -> str:
        draw, roots = self.drawing, []
        for _ in range(draw.randint(1, 4)):
            self._aliases += 1
            depth = draw.randint(0, 4)
            if draw.random() < 0.4:
                field = f"__schema {self._selection('__Schema', depth)}"
            else:
                names = [*self._schema.type_map, "Unknown"]
                name = f'"{draw.choice(names)}"'
                if draw.random() < 0.5:
                    name = self._variable("String!", name.strip('"'))
                field = f"__type(name: {name}) {self._selection('__Type', depth)}"
            roots.append(f"r{self._aliases}: {field}")
        declared = f"({', '.join(self._declared)})" if self._declared else ""
        return "\n".join([f"query {declared} {{ {' '.join(roots)} }}", *self._fragments])

    def _variable(self, type_: str, value: Any) -> str:
        name = f"v{len(self._declared)}"
        self._declared.append(f"${name}: {type_}")
        self.variables[name] = value
        return f"${name}"

    def _selection(self, kind: str, depth: int) -> str:
        draw, parts = self.drawing, []
        type_ = introspection_types[kind]
        assert isinstance(type_, GraphQLObjectType)
        names = [name for name in type_.fields if name != "isOneOf"]  # strawberry's may fail
        for name in draw.sample(names, draw.randint(1, min(5, len(names)))):
            field = type_.fields[name]
            below = named_type(field.type)
            if is_composite_type(below) and not depth:
                continue
            self._aliases += 1
            alias = f"{name}__{self._aliases}"
            given = ""
            if "includeDeprecated" in field.args and draw.random() < 0.6:
                value = draw.choice(["true", "false", ""]) or self._variable("Boolean!", True)
                given = f"(includeDeprecated: {value})"
            directive = draw.choice(["", "", "", " @skip(if: false)", " @include(if: false)"])
            selected = self._selection(below.name, depth - 1) if is_composite_type(below) else ""
            parts.append(f"{alias}: {name}{given}{directive} {selected}")
        body = f"{{ {' '.join(parts) or 'n__0: __typename'} }}"
        if draw.random() < 0.3:
            name = f"F{len(self._fragments)}"
            self._fragments.append(f"fragment {name} on {kind} {body}")
            return draw.choice([f"{{ ...{name} }}", f"{{ ...{name} ...{name} }}"])
        return draw.choice([body, f"{{ ... on {kind} {body} }}"])


def ofs(depth: int, leaf: str = "name") -> str:
    return f"ofType {{ {ofs(depth - 1, leaf)} }}" if depth else leaf


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("seed", range(40))
def test_generated_operations_cost_what_they_make(name: str, seed: int) -> None:
    schema, drawn = SCHEMAS[name], Drawn(SCHEMAS[name], seed)
    text = drawn.query()
    estimate, made = compared(schema, RULES_OF[name], text, **drawn.variables)
    assert made <= estimate + 1e-6, text
    assert estimate <= LISTS_OF_NULL * made, (text, estimate, made)


@pytest.mark.parametrize(
    "full",
    [
        get_introspection_query(),
        get_introspection_query(input_value_deprecation=True, specified_by_url=True, one_of=True),
        "{ __schema { types { name fields { name type { name " + ofs(7) + " } } } } }",
        "{ __schema { types { possibleTypes { name } interfaces { name } enumValues { name } "
        "inputFields { name defaultValue type { "
        + ofs(3)
        + " } } } directives { args { name } } } }",
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
    ],
    ids=["standard", "full", "ofType", "lists", "nested"],
)
@pytest.mark.parametrize("name", SCHEMAS)
def test_known_operations_cost_what_they_make(name: str, full: str) -> None:
    estimate, made = compared(SCHEMAS[name], RULES_OF[name], full)
    assert made <= estimate <= 2 * made


LEAVES = (
    "name kind description fields { name description args { name description defaultValue type "
    "{ name kind } } type { name kind ofType { name kind } } }"
)


@pytest.mark.parametrize("by", ["literal", "variable"])
def test_each_type_costs_what_it_makes(by: str) -> None:
    """By day, each type is named in one of the two ways."""
    rules, step = Rules(ours._schema), scaled(2, 1)
    for type_ in [*ours._schema.type_map, "Nothing"][(by == "variable") % step :: step]:
        for count in (1, scaled(2, 30)):
            name = f'"{type_}"' if by == "literal" else "$n"
            fields = " ".join(f"a{n}: __type(name: {name}) {{ {LEAVES} }}" for n in range(count))
            head = "query ($n: String!)" if by == "variable" else "query"
            given = {"n": type_} if by == "variable" else {}
            estimate, made = compared(ours._schema, rules, f"{head} {{ {fields} }}", **given)
            assert made <= estimate <= 2.5 * made, type_


def test_a_variable_that_is_no_name_costs_little() -> None:
    rules, text = (
        Rules(ours._schema),
        "query ($n: String!) { __type(name: $n) { fields { name } } }",
    )
    document: Any = parse(text)
    estimate = estimate_of(rules, document, document.definitions[0])
    for value in (None, 3, ["Query"], {"a": 1}):
        assert estimate.cost({"n": value}) <= 3


def test_wrong_arguments_are_not_cheaper_than_right_ones() -> None:
    rules = Rules(ours._schema)
    text = "query ($v: Boolean = true) {{ __schema {{ types {{ fields {{ {} }} }} }} }}".format(
        " ".join(f"a{n}: args(includeDeprecated: $v) {{ name }}" for n in range(90))
    )
    document: Any = parse(text)
    cost = estimate_of(rules, document, document.definitions[0]).cost({"v": None})
    right: Any = parse(text.replace("$v)", "true)"))
    assert cost > 4 * estimate_of(rules, right, right.definitions[0]).cost({})


def test_a_selection_is_counted_once_however_often_it_is_spread() -> None:
    rules = Rules(ours._schema)
    parts = ["{ __schema { types { ...F0 } } }"]
    for level in range(40):
        fields = " ".join(f"a{n}: ofType {{ ...F{level + 1} }}" for n in range(3))
        parts.append(f"fragment F{level} on __Type {{ {fields} }}")
    document: Any = parse(" ".join([*parts, "fragment F40 on __Type { name }"]))
    assert estimate_of(rules, document, document.definitions[0]).cost({}) < 10_000

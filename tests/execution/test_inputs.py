"""Arguments and variables: coercion, defaults and errors (after graphql-core's tests)."""

from enum import Enum
from functools import partial
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    OperationDefinitionNode,
    parse,
)

from gateway.execution.compile.variables import Variables
from tests.execution.answering import answer


class Color(Enum):
    RED = 1
    BLUE = 2


def picky(value: Any) -> Any:
    if value != "good":
        raise GraphQLError("not good", extensions={"code": "PICKY"})
    return ["good"]


def failing(value: Any) -> Any:
    raise ValueError(f"never {value}")


JSON = GraphQLScalarType("JSON")
PICKY = GraphQLScalarType("Picky", parse_value=picky)
NEVER = GraphQLScalarType("Never", parse_value=failing)
ENUM = GraphQLEnumType("Enum", {"NULL": None, "NO": False, "CUSTOM": "custom", "NUMBER": 5})
COLOR = GraphQLEnumType("Color", Color)
INNER = GraphQLInputObjectType(
    "Inner",
    {
        "a": GraphQLInputField(GraphQLString),
        "b": GraphQLInputField(GraphQLList(GraphQLString)),
        "c": GraphQLInputField(GraphQLNonNull(GraphQLString)),
        "d": GraphQLInputField(PICKY),
        "e": GraphQLInputField(NEVER),
        "withDefault": GraphQLInputField(GraphQLInt, default_value=3, out_name="with_default"),
    },
)
OUTER = GraphQLInputObjectType(
    "Outer",
    lambda: {
        "na": GraphQLInputField(GraphQLNonNull(INNER)),
        "nb": GraphQLInputField(GraphQLNonNull(GraphQLString), out_name="n_b"),
        "more": GraphQLInputField(GraphQLList(OUTER)),
    },
    out_type=lambda value: ("outer", sorted(value.items())),
)
CHOICE = GraphQLInputObjectType(
    "Choice",
    {"x": GraphQLInputField(GraphQLString), "y": GraphQLInputField(GraphQLInt)},
    is_one_of=True,
)
TYPES = {
    "string": GraphQLString,
    "int": GraphQLInt,
    "float": GraphQLFloat,
    "boolean": GraphQLBoolean,
    "id": GraphQLID,
    "json": JSON,
    "picky": PICKY,
    "never": NEVER,
    "enum": ENUM,
    "color": COLOR,
    "inner": INNER,
    "outer": OUTER,
    "choice": CHOICE,
    "list": GraphQLList(GraphQLString),
    "listNN": GraphQLList(GraphQLNonNull(GraphQLString)),
    "matrix": GraphQLList(GraphQLList(GraphQLInt)),
}


def echo(source: Any, info: Any, **arguments: Any) -> str:
    return repr(sorted(arguments.items()))


def fields() -> dict[str, GraphQLField]:
    made = {}
    for name, type_ in TYPES.items():
        ways = {
            name: GraphQLArgument(type_),
            f"{name}Required": GraphQLArgument(GraphQLNonNull(type_)),
        }
        for field, argument in ways.items():
            made[field] = GraphQLField(GraphQLString, {"input": argument}, resolve=echo)
    defaults = {
        "withDefault": GraphQLArgument(GraphQLString, "Hello", out_name="in_put"),
        "requiredWithDefault": GraphQLArgument(GraphQLNonNull(GraphQLString), "Hello"),
        "withNullDefault": GraphQLArgument(GraphQLString, None),
    }
    for field, argument in defaults.items():
        made[field] = GraphQLField(GraphQLString, {"input": argument}, resolve=echo)
    made["nested"] = GraphQLField(SELF, resolve=lambda *_: {})
    return made


SELF: Any = GraphQLObjectType("Query", lambda: fields())
SCHEMA = GraphQLSchema(SELF)
ask = partial(answer, SCHEMA)

LITERALS = [
    '{ inner(input: {a: "foo", b: ["bar"], c: "baz"}) }',
    '{ inner(input: {a: "foo", b: "bar", c: "baz"}) }',
    '{ inner(input: {a: null, b: null, c: "C", d: null}) }',
    '{ inner(input: {b: ["A", null, "C"], c: "C"}) }',
    '{ inner(input: ["foo", "bar", "baz"]) }',
    '{ inner(input: {c: "foo", d: "good"}) }',
    '{ inner(input: {c: "foo", d: "bad"}) }',
    '{ inner(input: {c: "foo", e: "SerializedValue"}) }',
    '{ inner(input: {a: "no c"}) }',
    '{ outer(input: {na: {c: "c"}, nb: "b", more: [{na: {c: "d", withDefault: 9}, nb: "x"}]}) }',
    '{ outer(input: {na: {c: "c"}, nb: "b", more: {na: {c: "d"}, nb: "x"}}) }',
    "{ enum(input: NULL) no: enum(input: NO) c: enum(input: CUSTOM) n: enum(input: NUMBER) }",
    "{ enumRequired(input: NULL) }",
    "{ color(input: RED) }",
    "{ matrix(input: 1) a: matrix(input: [1, [2, 3], null]) b: matrix(input: [[null]]) }",
    '{ json(input: {a: [1, 2.5, "x", true, null, E]}) }',
    "{ float(input: 1) int(input: 5) id(input: 12) }",
    "{ int(input: 99999999999) }",
    "{ string string2: string(input: null) stringRequired }",
    '{ withDefault a: withDefault(input: null) b: withDefault(input: "x") }',
    '{ requiredWithDefault b: requiredWithDefault(input: "x") }',
    '{ withNullDefault nested { withDefault nested { withDefault(input: "deep") } } }',
    '{ choice(input: {x: "a"}) other: choice(input: {y: 1}) }',
]


@pytest.mark.parametrize("query", LITERALS)
def test_literals_are_coerced(query: str) -> None:
    ask(query)


def test_a_literal_becomes_what_the_resolver_expects() -> None:
    data = {"inner": "[('input', {'a': 'foo', 'b': ['bar'], 'c': 'baz', 'with_default': 3})]"}
    ask(LITERALS[1], data=data, errors=[])


VALUES: dict[str, list[Any]] = {
    "String": ["a", "", 1, 1.5, True, None, [], ["a"], {}, "π"],
    "Int": [1, 0, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 1.0, 1.5, "1", True, None, 1e100],
    "Float": [1, 1.5, "1.5", True, None, 2**53, -0.0, 1e308],
    "Boolean": [True, False, 0, 1, "true", None],
    "ID": ["a", 1, 1.0, 1.5, True, None, 2**63, -5],
    "JSON": [None, 1, "a", {"a": [1, {"b": None}]}, [], False],
    "Picky": ["good", "bad", None, 1],
    "Never": ["x", None],
    "Enum": ["NULL", "NO", "CUSTOM", "NUMBER", "Nope", "custom", 5, None, ["NO"]],
    "Color": ["RED", "red", 1, None],
    "Inner": [
        {"c": "c"},
        {"a": "foo", "b": ["bar"], "c": "baz"},
        {"a": "foo", "b": "bar", "c": "baz"},
        {"c": "foo", "d": "good"},
        {"c": "foo", "d": "bad"},
        {"c": "foo", "e": "SerializedValue"},
        {"a": "foo", "b": "bar", "c": None},
        "foo bar",
        {"a": "foo", "b": "bar"},
        {"a": "foo", "b": "bar", "c": "baz", "extra": "dog"},
        {"c": "c", "withDefault": None},
        {"c": "c", "with_default": 1},
        [{"c": "c"}],
    ],
    "Outer": [
        {"na": {"a": "foo"}},
        {"na": {"c": "c"}, "nb": "b"},
        {"na": {"c": 5}, "nb": [], "more": [None, {"na": {"c": "x"}, "nb": "y"}, 3]},
        {"na": {"c": "c"}, "nb": "b", "more": {"na": {"c": "x"}, "nb": "y"}},
        {"na": {"c": "c"}, "nb": "b", "moer": 1},
    ],
    "Choice": [{"x": "a"}, {"y": 1}, {}, {"x": None}, {"x": "a", "y": 1}, {"x": "a", "y": None}],
    "[String]": [None, ["A"], ["A", None, "B"], "A", [1], [["A"]], []],
    "[String!]": [None, ["A"], ["A", None, "B"], "A", []],
    "[[Int]]": [[[1]], [1], 1, [None, [None]], [["x"]], "x"],
}
FIELDS = {
    "String": "string", "Int": "int", "Float": "float", "Boolean": "boolean", "ID": "id",
    "JSON": "json", "Picky": "picky", "Never": "never", "Enum": "enum", "Color": "color",
    "Inner": "inner", "Outer": "outer", "Choice": "choice", "[String]": "list",
    "[String!]": "listNN", "[[Int]]": "matrix",
}  # fmt: skip


@pytest.mark.parametrize("type_", VALUES)
@pytest.mark.parametrize("required", [False, True])
def test_variables_are_coerced_or_refused(type_: str, required: bool) -> None:
    field = FIELDS[type_] + ("Required" if required else "")
    query = f"query Q($value: {type_}{'!' if required else ''}) {{ {field}(input: $value) }}"
    ask(query)
    ask(query, variables={})
    for value in VALUES[type_]:
        ask(query, variables={"value": value})
        ask(query, variables={"value": value, "unknown": 1})


@pytest.mark.parametrize("value", [{}, {"v": None}, {"v": "given"}, {"v": 5}])
def test_defaults_of_variables_and_of_arguments(value: dict[str, Any]) -> None:
    for declared, field in (
        ('String = "default"', "string"),
        ("String = null", "string"),
        ('String! = "default"', "stringRequired"),
        ("String", "withDefault"),
        ("String", "requiredWithDefault"),
        ("String", "withNullDefault"),
        ("String!", "withDefault"),
    ):
        ask(f"query ($v: {declared}) {{ {field}(input: $v) }}", variables=value)


@pytest.mark.parametrize("value", [{}, {"v": None}, {"v": "given"}])
def test_variables_inside_of_literals(value: dict[str, Any]) -> None:
    for query in (
        'query ($v: String) { inner(input: {a: $v, c: "c"}) }',
        'query ($v: String) { inner(input: {b: [$v, "x", null], c: "c"}) }',
        'query ($v: String) { inner(input: {b: $v, c: "c"}) }',
        "query ($v: String) { list(input: [$v]) listNN(input: [$v]) }",
        'query ($v: String) { inner(input: {c: "c", withDefault: 1, a: $v}) }',
        "query ($v: String) { json(input: {k: [$v]}) }",
        "query ($v: String) { ...F nested { ...F } } fragment F on Query { string(input: $v) }",
        'query ($v: String = "d") { outer(input: {na: {c: $v}, nb: $v}) }',
    ):
        ask(query, variables=value)


def test_a_variable_of_an_input_field_with_a_default() -> None:
    query = 'query ($v: Int) { inner(input: {c: "c", withDefault: $v}) }'
    for variables in ({}, {"v": None}, {"v": 7}):
        ask(query, variables=variables)


def test_many_wrong_variables_are_all_reported_up_to_a_limit() -> None:
    query = (
        "query ($a: Int!, $b: String, $c: Inner!) { intRequired(input: $a) string(input: $b)"
        " innerRequired(input: $c) }"
    )
    outcome = ask(query, variables={"a": "x", "b": 1, "c": {"a": 1, "b": 2}}, data=None)
    assert len(outcome.errors) == 5
    assert not outcome.started
    many = {"v": [1] * 60}
    outcome = ask("query ($v: [String]) { list(input: $v) }", variables=many, data=None)
    assert len(outcome.errors) == 51
    assert outcome.errors[-1].message.startswith("Too many errors processing variables")


class Counted(dict[str, Any]):
    """An input object that counts how often all of its fields are read."""

    reads = 0

    def __iter__(self) -> Any:
        self.reads += 1
        return super().__iter__()

    def items(self) -> Any:
        self.reads += 1
        return super().items()


@pytest.mark.parametrize(("type_", "field"), [("Inner", "inner"), ("Outer", "outer")])
def test_unknown_fields_are_reported_up_to_a_limit_after_few_reads_of_the_object(
    type_: str, field: str
) -> None:
    inner = Counted({f"unknown{n}": n for n in range(1_000)}, c="known")
    variables = {"value": {"na": inner} if type_ == "Outer" else inner}
    query = f"query ($value: {type_}) {{ {field}(input: $value) }}"
    assert len(ask(query, variables=variables, data=None).errors) == 51
    inner.reads = 0
    [operation] = parse(query).definitions
    assert isinstance(operation, OperationDefinitionNode)
    Variables(SCHEMA, operation.variable_definitions).coerce(variables)
    assert inner.reads == 1


def test_a_resolver_sees_the_variables_in_its_info() -> None:
    schema = GraphQLSchema(
        GraphQLObjectType(
            "Query",
            {"seen": GraphQLField(GraphQLString, resolve=lambda _, i: repr(i.variable_values))},
        )
    )
    query = "query ($a: Int = 5, $b: [Int], $c: ID) { seen @skip(if: false) }"
    answer(schema, query, variables={"b": 1})


@pytest.mark.parametrize("value", [1, RuntimeError("when it is read"), lambda info, x: 1])
@pytest.mark.parametrize("type_", ["Int", "[Int]"])
def test_arguments_are_coerced_before_an_attribute_that_ignores_them_is_read(
    type_: str, value: Any
) -> None:
    class Root:
        @property
        def a(self) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

    answer(
        f'type Query {{ a(x: String! = "d"): {type_} }}',
        'query ($v: String = "d") { a(x: $v) }',
        root=Root,
        variables={"v": None},
        data={"a": None},
        errors=[
            (
                "Argument 'x' has invalid value: Expected variable '$v' provided to non-null type"
                " 'String!' not to be None.",
                ["a"],
            )
        ],
    )

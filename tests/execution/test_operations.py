"""Whole operations: the arguments of resolvers, the choice of the operation, the order of fields
(after graphql-core's tests of the executor, mutations and default resolvers)."""

import asyncio
from collections import ChainMap
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLError,
    GraphQLField,
    GraphQLInt,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    Undefined,
    build_schema,
    get_introspection_query,
    parse,
)

from tests.execution.answering import answer
from tests.execution.comparing import new_engine


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def test_fields_with_each_kind_of_resolver_are_executed() -> None:
    class Deep:
        a, b = "Already Been Done", "Boring"
        c = ("Contrived", None, "Confusing")

        def deeper(self, info: Any) -> list[Any]:
            return [Data(), None, Data()]

    class Data:
        a, c, e = "Apple", "Cookie", "Egg"

        def b(self, info: Any) -> str:
            return "Banana"

        def d(self, info: Any) -> Any:
            return later("Donut")

        def pic(self, info: Any, size: int = 50) -> Any:
            return later(f"Pic of size: {size}")

        def deep(self, info: Any) -> Deep:
            return Deep()

        def promise(self, info: Any) -> Any:
            return later(Data())

    sdl = """type Query { a: String b: String c: String d: String e: String pic(size: Int): String
      deep: Deep promise: Query } type Deep { a: String b: String c: [String] deeper: [Query] }"""
    query = """query ($size: Int) { a b x: c ...c e promise { a } deep { a b c deeper { a b } } }
      fragment c on Query { d pic(size: $size) }"""
    data = {
        "a": "Apple",
        "b": "Banana",
        "x": "Cookie",
        "d": "Donut",
        "pic": "Pic of size: 100",
        "e": "Egg",
        "promise": {"a": "Apple"},
        "deep": {
            "a": "Already Been Done",
            "b": "Boring",
            "c": ["Contrived", None, "Confusing"],
            "deeper": [{"a": "Apple", "b": "Banana"}, None, {"a": "Apple", "b": "Banana"}],
        },
    }
    answer(sdl, query, root=Data, variables={"size": 100}, data=data, errors=[])


def test_parallel_fragments_are_merged() -> None:
    sdl = "type Query { a: String b: String c: String deep: Query }"

    class Root:
        a, b, c = "Apple", "Banana", "Cherry"

        def deep(self, info: Any) -> "Root":
            return Root()

    query = """{ a ...One ...Two } fragment One on Query { b deep { b deeper: deep { b } } }
      fragment Two on Query { c deep { c deeper: deep { c } } }"""
    deeper = {"b": "Banana", "c": "Cherry"}
    data = {"a": "Apple", "b": "Banana", "deep": {"b": "Banana", "deeper": deeper, "c": "Cherry"}}
    answer(sdl, query, root=Root, data={**data, "c": "Cherry"}, errors=[])


def test_info_has_the_path_and_the_field_of_a_resolver() -> None:
    seen = []

    def resolve(source: Any, info: Any, **arguments: Any) -> Any:
        seen.append(
            (
                source,
                arguments,
                info.field_name,
                [node.alias and node.alias.value for node in info.field_nodes],
                str(info.return_type),
                str(info.parent_type),
                info.path.as_list(),
                info.path.typename,
                sorted(info.fragments),
                info.root_value,
                info.operation.name.value,
                info.variable_values.coerced,
                info.context,
                info.schema is schema,
            )
        )
        return [{}, {}] if info.field_name == "list" else "x"

    query_type: Any = GraphQLObjectType(
        "Query",
        lambda: {
            "text": GraphQLField(
                GraphQLNonNull(GraphQLString),
                {"n": GraphQLArgument(GraphQLInt, out_name="number")},
                resolve=resolve,
            ),
            "list": GraphQLField(build_list(query_type), resolve=resolve),
        },
    )
    schema = GraphQLSchema(query_type)
    query = """query Named($v: Int = 3) { list { a: text(n: $v) ...F } }
      fragment F on Query { a: text(n: $v) list { text } }"""
    answer(schema, query, root="root", context="context", variables={})
    half = len(seen) // 2
    assert half == 9
    assert sorted(seen[:half], key=repr) == sorted(seen[half:], key=repr)


def build_list(type_: Any) -> Any:
    from graphql import GraphQLList

    return GraphQLList(type_)


ERRORS_SDL = """type Query { syncOk: String syncError: String syncReturnError: String
  syncReturnErrorList: [String] asyncOk: String asyncError: String asyncReturnError: String
  asyncReturnErrorWithExtensions: String raisesGraphQL: String empty: String noMessage: String }"""


class Errors:
    def syncOk(self, info: Any) -> str:  # noqa: N802
        return "ok"

    def syncError(self, info: Any) -> str:  # noqa: N802
        raise RuntimeError("sync error")

    def syncReturnError(self, info: Any) -> Any:  # noqa: N802
        return RuntimeError("returned")

    def syncReturnErrorList(self, info: Any) -> Any:  # noqa: N802
        return ["a", RuntimeError("one"), "b", RuntimeError("two")]

    async def asyncOk(self, info: Any) -> str:  # noqa: N802
        return "ok"

    async def asyncError(self, info: Any) -> str:  # noqa: N802
        raise RuntimeError("async error")

    async def asyncReturnError(self, info: Any) -> Any:  # noqa: N802
        return GraphQLError("async returned")

    async def asyncReturnErrorWithExtensions(self, info: Any) -> Any:  # noqa: N802
        return GraphQLError("with", extensions={"foo": "bar"})

    def raisesGraphQL(self, info: Any) -> Any:  # noqa: N802
        raise GraphQLError("own", extensions={"code": "OWN"}, path=["else", "where"])

    def empty(self, info: Any) -> Any:
        raise ValueError

    def noMessage(self, info: Any) -> Any:  # noqa: N802
        raise StopIteration


def test_an_error_makes_only_its_own_field_null() -> None:
    names = [name for name in ERRORS_SDL.replace("[String]", "").split() if name.endswith(":")]
    query = "{ " + " ".join(name[:-1] for name in names) + " }"
    outcome = answer(ERRORS_SDL, query, root=Errors)
    assert len(outcome.errors) == 10
    assert outcome.data is not None
    assert outcome.data.startswith(b'{"syncOk":"ok","syncError":null,"syncReturnError":null,')


def test_an_error_has_the_whole_path() -> None:
    class Root:
        def nullableA(self, info: Any) -> "Root":  # noqa: N802
            return Root()

        def nonNullA(self, info: Any) -> "Root":  # noqa: N802
            return Root()

        def throws(self, info: Any) -> str:
            raise RuntimeError("Catch me if you can")

    sdl = "type Query { nullableA: Query nonNullA: Query! throws: String! }"
    query = "{ nullableA { aliasedA: nullableA { nonNullA { anotherA: nonNullA { throws } } } } }"
    path: list[str | int] = ["nullableA", "aliasedA", "nonNullA", "anotherA", "throws"]
    data = {"nullableA": {"aliasedA": None}}
    answer(sdl, query, root=Root, data=data, errors=[("Catch me if you can", path)])


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("{ a }", None),
        ("query Only { a }", None),
        ("query First { a } query Second { second: a }", "Second"),
        ("query First { a } mutation M { m: a } subscription S { s: a }", "M"),
        ("fragment F on Query { a } query First { ...F } query Second { a }", "First"),
    ],
)
def test_the_named_operation_runs(document: str, name: str | None) -> None:
    fields = "{ a: String }"
    sdl = f"type Query {fields} type Mutation {fields} type Subscription {fields}"
    answer(sdl, document, operation=name, root=SimpleNamespace(a="b"), errors=[])


def test_fields_are_in_the_order_of_the_query_whichever_resolver_ends_first() -> None:
    class Root:
        def a(self, info: Any) -> str:
            return "a"

        def b(self, info: Any) -> Any:
            return later("b")

        def c(self, info: Any) -> str:
            return "c"

        async def d(self, info: Any) -> str:
            return "d"

    sdl = "type Query { a: String b: String c: String d: String }"
    outcome = answer(sdl, "{ d c b a x: b ...F } fragment F on Query { a y: c b }", root=Root)
    assert outcome.data == b'{"d":"d","c":"c","b":"b","a":"a","x":"b","y":"c"}'


def test_omitted_arguments_are_not_passed_to_the_resolver() -> None:
    def resolve(source: Any, info: Any, **arguments: Any) -> str:
        return repr(arguments)

    arguments = {name: GraphQLArgument(GraphQLInt) for name in "abcde"}
    schema = GraphQLSchema(
        GraphQLObjectType("Query", {"f": GraphQLField(GraphQLString, arguments, resolve)})
    )
    answer(schema, "{ f(a: 1, c: 0, e: null) }", data={"f": "{'a': 1, 'c': 0, 'e': None}"})


@pytest.mark.parametrize("value", [None, Undefined])
def test_a_scalar_that_serializes_to_nothing_is_an_error(value: Any) -> None:
    scalar = GraphQLScalarType("Odd", serialize=lambda _: value)
    schema = GraphQLSchema(
        GraphQLObjectType("Query", {"f": GraphQLField(scalar, resolve=lambda *_: "x")})
    )
    message = (
        f"Expected `Odd.coerce_output_value('x')` to return non-nullable value, returned: {value}"
    )
    answer(schema, "{ f }", data={"f": None}, errors=[(message, ["f"])])


def test_default_resolvers_read_attributes_keys_and_call_methods() -> None:
    class Root:
        test = "attribute"

        def method(self, info: Any, a: int = 1) -> str:
            return f"{info.context} {a}"

        @property
        def broken(self) -> str:
            raise RuntimeError("broken")

        @property
        def missing(self) -> str:
            raise AttributeError("missing")

    sdl = "type Query { test: String method(a: Int): String broken: String missing: String }"
    query = "{ test method x: method(a: 5) broken missing }"
    data = {"test": "attribute", "method": "c 1", "x": "c 5", "broken": None, "missing": None}
    answer(sdl, query, root=Root, context="c", data=data, errors=[("broken", ["broken"])])
    for mapping in ({"test": "key"}, ChainMap({"test": "key"}), {"test": lambda info: "key"}):
        answer(sdl, "{ test method }", root=mapping, data={"test": "key", "method": None})


class Number:
    def __init__(self, value: int) -> None:
        self.theNumber = value


class Changing:
    """The root value of the mutations. Each test starts at 6."""

    def __init__(self) -> None:
        self.number = Number(6)

    def now(self, info: Any, to: int) -> Number:
        self.number.theNumber = to
        return self.number

    async def later(self, info: Any, to: int) -> Number:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return self.now(info, to)

    def fail(self, info: Any, to: int) -> Number:
        raise RuntimeError(f"Cannot change the number to {to}")

    async def failLater(self, info: Any, to: int) -> Number:  # noqa: N802
        await asyncio.sleep(0)
        raise RuntimeError(f"Cannot change the number to {to}")

    strict = fail


CHANGES = """type Query { theNumber: Int } type Number { theNumber: Int again: Int }
  type Mutation { now(to: Int): Number later(to: Int): Number fail(to: Int): Number
    failLater(to: Int): Number strict(to: Int): Number! }"""


def test_mutations_run_one_after_the_other() -> None:
    query = """mutation M { first: now(to: 1) { theNumber } second: later(to: 2) { theNumber }
      third: now(to: 3) { theNumber } ...F sixth: now(to: 6) { theNumber } }
      fragment F on Mutation {
        fourth: later(to: 4) { theNumber } fifth: now(to: 5) { theNumber } }"""
    names = ["first", "second", "third", "fourth", "fifth", "sixth"]
    data = {name: {"theNumber": n + 1} for n, name in enumerate(names)}
    answer(CHANGES, query, root=Changing, data=data, errors=[])


def test_a_failing_mutation_does_not_stop_the_next_one() -> None:
    query = """mutation M { a: now(to: 1) { theNumber } b: fail(to: 2) { theNumber }
      c: later(to: 3) { theNumber } d: failLater(to: 4) { theNumber }
      e: later(to: 5) { theNumber } }"""
    data = {
        "a": {"theNumber": 1},
        "b": None,
        "c": {"theNumber": 3},
        "d": None,
        "e": {"theNumber": 5},
    }
    errors: Any = [(f"Cannot change the number to {n}", [name]) for n, name in ((2, "b"), (4, "d"))]
    answer(CHANGES, query, root=Changing, data=data, errors=errors)


def test_a_failing_non_null_mutation_stops_the_fields_after_it() -> None:
    made = []

    def new() -> Changing:
        made.append(Changing())
        return made[-1]

    query = """mutation { a: later(to: 1) { theNumber } strict(to: 2) { theNumber }
      c: now(to: 3) { again } }"""
    document = parse(query)

    async def run() -> Any:
        plan = new_engine(build_schema(CHANGES)).compile(document, None)
        return await plan.run(root=new())

    outcome = asyncio.run(run())
    assert [e.message for e in outcome.errors] == ["Cannot change the number to 2"]
    assert outcome.data in (None, b"null")
    assert made[0].number.theNumber == 1


def test_introspection_answers_like_graphql_core() -> None:
    sdl = CHANGES + " interface Node { id: ID! } enum E { A B @deprecated } input I { a: Int = 3 }"
    query = get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
    )
    outcome = answer(sdl, query, errors=[])
    assert outcome.data is not None
    answer(sdl, '{ __typename a: __typename __type(name: "E") { enumValues { name } } }')
    answer(sdl, "query ($n: String!) { __type(name: $n) { name } }", variables={"n": "I"})
    answer(sdl, "mutation { __typename now(to: 1) { __typename } }", root=Changing)

"""Public bug reports of GraphQL executors, tried on this one and on graphql-core.

Each report is an operation with the response that the reporter expected. `reports.md` says what
each report was.
"""

import asyncio
import contextvars
import gc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from graphql import GraphQLError

from tests.execution.answering import answer
from tests.execution.both import both, plan_of

Path = list[str | int]


@dataclass(frozen=True)
class Report:
    """`errors` are the messages and paths. A message that ends with "..." is a beginning."""

    sdl: str
    query: str
    root: Any
    data: Any
    errors: Sequence[tuple[str, Path | None]] = ()
    variables: dict[str, Any] | None = None


def later(value: Any) -> Callable[[Any], Any]:
    """A resolver that returns a value, or raises an exception, after a turn of the event loop."""

    async def resolve(info: Any, **arguments: Any) -> Any:
        await asyncio.sleep(0)
        if isinstance(value, Exception):
            raise value
        return value

    return resolve


def failing(error: Exception) -> Callable[[Any], Any]:
    def resolve(info: Any) -> Any:
        raise error

    return resolve


def echo(info: Any, **arguments: Any) -> str:
    return repr(sorted(arguments.items()))


ITEM = "type Query { list: [Item] strict: [Item!]! item: Item } type Item { a: String b: String! }"
FLOAT = "type Query { value: Float other: Int }"
ECHO = """type Query { echo(list: [Int!], color: Color, colors: [Color], in: In, n: Int): String
    nonnull(n: Int!): String floating(x: Float): String }
  enum Color { RED } input In { a: Int = 7, b: [Int!]! = [1] }"""
HERO = """type Query { hero: Character book: Book humans: [Character] search: [Any] }
  interface Character { name: String! } type Human implements Character {
    name: String! home: String friends(first: Int): [Character] }
  type Book { name: String! category: Category! } union Any = Human | Book
  type Category { name: String! categories: [Category!]! }"""


def human(name: str, **more: Any) -> dict[str, Any]:
    return {"__typename": "Human", "name": name, **more}


def friends(info: Any, first: int = 9) -> list[Any]:
    return [human(f"friend {n}") for n in range(first)]


LUKE = human("Luke", home="Tatooine", friends=friends)
BOOK = {
    "__typename": "Book",
    "name": "A book",
    "category": {"name": "top", "categories": [{"name": "sub", "categories": []}]},
}
WORLD = {"hero": LUKE, "book": BOOK, "humans": [LUKE], "search": [LUKE, BOOK]}
NO = "Cannot return null for non-nullable field "

REPORTS = {
    "graphql/graphql-js#17": Report(
        "type Query { org: Org } type Org { id: ID projects: [Project] } type Project "
        "{ id: ID versions: [Version] } type Version { id: ID }",
        "{ org { id projects { versions { id } } } }",
        {"org": {"id": 1, "projects": later([{"versions": later([{"id": 5}])}, {"versions": []}])}},
        {"org": {"id": "1", "projects": [{"versions": [{"id": "5"}]}, {"versions": []}]}},
    ),
    "graphql/graphql-js#4643": Report(
        ITEM,
        "{ list { a } strict { a } }",
        {
            "list": lambda info: [later(ValueError("late"))(info), ValueError("now")],
            "strict": lambda info: [later({"a": "x"})(info)],
        },
        {"list": [None, None], "strict": [{"a": "x"}]},
        [("late", ["list", 0]), ("now", ["list", 1])],
    ),
    "graphql/graphql-spec#259": Report(
        "type Query { names: [String] }",
        "{ names }",
        {"names": ["A", ValueError("no B"), "C"]},
        {"names": ["A", None, "C"]},
        [("no B", ["names", 1])],
    ),
    "graphql/graphql-spec#317": Report(
        "type Query { names: [String!] nested: [[String!]] }",
        "{ names nested }",
        {"names": ["A", None], "nested": [["A"], ["B", None]]},
        {"names": None, "nested": [["A"], None]},
        [(f"{NO}Query.names.", ["names", 1]), (f"{NO}Query.nested.", ["nested", 1, 1])],
    ),
    "absinthe-graphql/absinthe#1072": Report(
        "type Query { box: Box } type Box { items: [Item!]! } type Item { a: String! }",
        "{ box { items { a } } }",
        {"box": {"items": [{"a": "x"}, {"a": failing(ValueError("bad"))}]}},
        {"box": None},
        [("bad", ["box", "items", 1, "a"])],
    ),
    "grafbase/grafbase#665": Report(
        "type Query { grid: [[Cell]] } type Cell { a: String! }",
        "{ grid { a } }",
        {"grid": [[{"a": "1"}, {"a": None}], [], None, [{"a": "2"}]]},
        {"grid": [[{"a": "1"}, None], [], None, [{"a": "2"}]]},
        [(f"{NO}Cell.a.", ["grid", 0, 1, "a"])],
    ),
    "Shopify/graphql-batch#23": Report(
        "type Query { test: String! }",
        "{ test }",
        {"test": later(GraphQLError("test error"))},
        None,
        [("test error", ["test"])],
    ),
    "status-im/nim-graphql#73": Report(
        "type Query { a: A } type A { b: B! c: String } type B { d: String! }",
        "{ a { b { d } c } }",
        {"a": {"b": {"d": later(ValueError("inner"))}, "c": "c"}},
        {"a": None},
        [("inner", ["a", "b", "d"])],
    ),
    "graphql-hive/router#1162": Report(
        "type Query { users: [User] } type User { id: ID! profile: Profile } "
        "type Profile { email: String! }",
        "{ users { id profile { email } } }",
        {"users": [{"id": 1, "profile": {"email": None}}, {"id": None}]},
        {"users": [{"id": "1", "profile": None}, None]},
        [
            (f"{NO}Profile.email.", ["users", 0, "profile", "email"]),
            (f"{NO}User.id.", ["users", 1, "id"]),
        ],
    ),
    "rmosolgo/graphql-ruby#2202": Report(
        "type Query { multi: Multi } type Multi { one: Found two: Found } "
        "type Found { results: [String] }",
        "{ multi { one { results } two { results } } }",
        {
            "multi": {
                "one": {"results": later(ValueError("down"))},
                "two": {"results": later(["x"])},
            }
        },
        {"multi": {"one": {"results": None}, "two": {"results": ["x"]}}},
        [("down", ["multi", "one", "results"])],
    ),
    "strawberry-graphql/strawberry#3814": Report(
        "type Query { good: String! bad: String }",
        "{ good bad }",
        {"good": "works", "bad": failing(ValueError("fails"))},
        {"good": "works", "bad": None},
        [("fails", ["bad"])],
    ),
    "apollographql/apollo-server#1724": Report(
        HERO,
        "{ book { name category { ...c categories { ...c } } } } fragment c on Category "
        "{ abc: name }",
        WORLD,
        {"book": {"name": "A book", "category": {"abc": "top", "categories": [{"abc": "sub"}]}}},
    ),
    "ardatan/graphql-tools#2568": Report(
        HERO,
        "{ result: hero { ... on Human { i: name } } }",
        WORLD,
        {"result": {"i": "Luke"}},
    ),
    "99designs/gqlgen#1271": Report(
        HERO,
        "{ hero { ...F } } fragment F on Character { name aliased: name }",
        WORLD,
        {"hero": {"name": "Luke", "aliased": "Luke"}},
    ),
    "async-graphql/async-graphql#345": Report(
        HERO,
        "{ ...A humans { __typename } } fragment A on Query { ...B ...C } "
        "fragment B on Query { humans { name } } "
        "fragment C on Query { humans { ... on Human { home } } }",
        WORLD,
        {"humans": [{"name": "Luke", "home": "Tatooine", "__typename": "Human"}]},
    ),
    "neo4j-graphql/neo4j-graphql-js#39": Report(
        HERO,
        "{ hero { ... on Human { all: friends(first: 2) { name } first: friends(first: 1) "
        "{ name ... on Human { home } } } } }",
        WORLD,
        {
            "hero": {
                "all": [{"name": "friend 0"}, {"name": "friend 1"}],
                "first": [{"name": "friend 0", "home": None}],
            }
        },
    ),
    "ParabolInc/parabol#6321": Report(
        HERO,
        "{ one: search { ... on Human { name } } two: search { ... on Book { name category "
        "{ name } } } }",
        WORLD,
        {
            "one": [{"name": "Luke"}, {}],
            "two": [{}, {"name": "A book", "category": {"name": "top"}}],
        },
    ),
    "zalando-incubator/graphql-jit#111": Report(
        HERO,
        "query ($only: Boolean!) { book { a: category @skip(if: $only) { ...c } "
        "b: category @include(if: $only) { ...c } } } fragment c on Category { name }",
        WORLD,
        {"book": {"b": {"name": "top"}}},
        variables={"only": True},
    ),
    "graphql-aspnet/graphql-aspnet#94": Report(
        HERO,
        "query ($yes: Boolean!) { hero { ... on Human @skip(if: $yes) { home } "
        "...F @include(if: $yes) name } } fragment F on Human { friends(first: 0) { name } }",
        WORLD,
        {"hero": {"friends": [], "name": "Luke"}},
        variables={"yes": True},
    ),
    "graphql/graphql-spec#778": Report(
        FLOAT,
        "{ a: value }",
        {"value": float("nan")},
        {"a": None},
        [("Float cannot represent non numeric value: nan", ["a"])],
    ),
    "vert-x3/vertx-web#1811": Report(
        "type Query { values: [Float] }",
        "{ values }",
        {"values": [1.5, float("inf"), float("-inf")]},
        {"values": [1.5, None, None]},
        [
            ("Float cannot represent non numeric value: inf", ["values", 1]),
            ("Float cannot represent non numeric value: -inf", ["values", 2]),
        ],
    ),
    "graphql/graphql-js#4488": Report(
        FLOAT,
        "{ other }",
        {"other": float("nan")},
        {"other": None},
        [("Int cannot represent non-integer value: nan", ["other"])],
    ),
    "graphql/graphql-js#1365": Report(
        ECHO,
        "query ($x: Float) { floating(x: $x) }",
        {"floating": echo},
        None,
        [("Variable '$x' has invalid value...", None)],
        {"x": float("inf")},
    ),
    "hasura/graphql-engine#576": Report(
        ECHO,
        "query ($n: Int) { echo(n: $n) }",
        {"echo": echo},
        None,
        [("Variable '$n' has invalid value...", None)],
        {"n": 2**31},
    ),
    "graphql/graphql-spec#1002": Report(
        ECHO,
        "query ($n: Int = 3) { echo(list: [1, $n, 3]) }",
        {"echo": echo},
        {"echo": None},
        [("Argument 'list' has invalid value...", ["echo"])],
        {"n": None},
    ),
    "graphql-java/graphql-java#2177": Report(
        ECHO,
        "query ($in: In) { echo(in: $in) }",
        {"echo": echo},
        {"echo": "[('in', {'a': 5, 'b': [1]})]"},
        variables={"in": {"a": 5}},
    ),
    "graphql-java/graphql-java#2310": Report(
        ECHO,
        "query ($in: In) { echo(in: $in) }",
        {"echo": echo},
        {"echo": "[('in', {'a': None, 'b': [2]})]"},
        variables={"in": {"a": None, "b": 2}},
    ),
    "graphql/graphql-js#4711": Report(
        ECHO,
        "query ($a: Int) { echo(in: {a: $a}) }",
        {"echo": echo},
        {"echo": "[('in', {'a': None, 'b': [1]})]"},
        variables={"a": None},
    ),
    "ghostdogpr/caliban#3033": Report(
        ECHO,
        "query ($list: [Int!], $n: Int!) { echo(list: $list, n: $n) }",
        {"echo": echo},
        None,
        [
            ("Variable '$list' has invalid value at [0]...", None),
            ("Variable '$n' has invalid value...", None),
        ],
        {"list": [None], "n": None},
    ),
    "wundergraph/graphql-go-tools#855": Report(
        ECHO,
        "query ($colors: [Color], $color: Color) { echo(colors: $colors, color: $color) }",
        {"echo": echo},
        {"echo": "[('color', None), ('colors', None)]"},
        variables={"colors": None, "color": None},
    ),
    "graphql-aspnet/graphql-aspnet#96": Report(
        ECHO,
        "query ($color: Color, $n: Int) { echo(color: $color, n: $n) }",
        {"echo": echo},
        {"echo": "[('n', None)]"},
        variables={"n": None},
    ),
    "webonyx/graphql-php#1803": Report(
        "type Query { days: [Day!]! } type Day { date: Int event: Event } "
        "type Event { days: [Day!]! }",
        "{ days { event { days { date } } } }",
        {
            "days": [
                {"event": later({"days": later([{"date": n}, {"date": -n}])})} for n in range(600)
            ]
        },
        {"days": [{"event": {"days": [{"date": n}, {"date": -n}]}} for n in range(600)]},
    ),
    "graphql-python/graphql-core-legacy#69": Report(
        "type Query { recipes: String }",
        "{ recipes }",
        {"recipes": later("hello")},
        {"recipes": "hello"},
    ),
    "graphql-python/graphene#503": Report(
        "type Query { recipes: String! }",
        "{ recipes }",
        {"recipes": later(ValueError("in a coroutine"))},
        None,
        [("in a coroutine", ["recipes"])],
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_an_executor_answers_a_report_as_its_reporter_expected(name: str) -> None:
    report = REPORTS[name]
    outcome = answer(
        report.sdl,
        report.query,
        data=report.data,
        root=report.root,
        variables=report.variables,
    )
    found = [(error.message, error.path) for error in outcome.errors]
    assert len(found) == len(report.errors), found
    for message, path in report.errors:
        begins = message.removesuffix("...")
        same = [each for each in found if each[1] == path and each[0].startswith(begins)]
        assert same, (message, path, found)
        assert message.endswith("...") or same[0][0] == message


def test_the_fields_of_a_mutation_run_one_after_the_other() -> None:
    """async-graphql/async-graphql#1405."""
    order: list[str] = []

    def write(info: Any, turns: int) -> Any:
        async def run() -> int:
            order.append(f"begin {turns}")
            for _ in range(turns):
                await asyncio.sleep(0)
            order.append(f"end {turns}")
            return turns

        return run()

    answer(
        "type Query { a: Int } type Mutation { write(turns: Int!): Int }",
        "mutation { a: write(turns: 5) b: write(turns: 0) c: write(turns: 2) }",
        data={"a": 5, "b": 0, "c": 2},
        root={"write": write},
    )
    once = ["begin 5", "end 5", "begin 0", "end 0", "begin 2", "end 2"]
    assert order == once * 2  # graphql-core's run, and the engine's


@both
def test_a_field_that_is_selected_many_times_is_resolved_once(engine: Callable[[Any], Any]) -> None:
    """birkir/prime#542, dolevf/graphql-cop#43."""
    calls: list[str] = []

    def resolve(info: Any) -> str:
        calls.append(info.field_name)
        return "x"

    plan = plan_of(engine, "type Query { a: String }", "{ " + "a " * 1_000 + "}")
    outcome = asyncio.run(plan.run(root={"a": resolve}))
    assert outcome.data == b'{"a":"x"}'
    assert calls == ["a"]


def test_no_coroutine_is_forgotten_when_a_field_beside_it_raises() -> None:
    """graphql-python/graphql-core#269."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer(
            "type Query { slow: String fast: String! }",
            "{ slow fast }",
            root={"slow": later("ok"), "fast": failing(ValueError("boom"))},
            data=None,
            errors=[("boom", ["fast"])],
        )
        gc.collect()


@both
def test_requests_at_the_same_time_keep_their_own_context(engine: Callable[[Any], Any]) -> None:
    """strawberry-graphql/strawberry#4255 and #4256."""
    variable = contextvars.ContextVar("variable", default="")

    async def one(plan: Any, name: str) -> Any:
        async def resolve(info: Any) -> str:
            variable.set(name)
            for _ in range(5):
                await asyncio.sleep(0)
            return f"{info.context} {variable.get()}"

        outcome = await plan.run(root={"a": resolve, "b": resolve}, context=name)
        return outcome.data.decode()

    async def run() -> list[Any]:
        plan = plan_of(engine, "type Query { a: String b: String }", "{ a b }")
        return await asyncio.gather(*(one(plan, f"r{n}") for n in range(20)))

    found = asyncio.run(run())
    assert found == [f'{{"a":"r{n} r{n}","b":"r{n} r{n}"}}' for n in range(20)]


@both
def test_a_resolver_that_overwrites_its_parent_comes_too_late_for_fields_that_were_read(
    engine: Callable[[Any], Any],
) -> None:
    """strawberry-graphql/strawberry#3585: the order of fields is free; both executors agree."""

    class Parent:
        done = False

        async def child(self, info: Any) -> str:
            self.done = True
            return "child"

    plan = plan_of(
        engine, "type Query { p: P } type P { child: String done: Boolean }", "{ p { child done } }"
    )
    outcome = asyncio.run(plan.run(root={"p": Parent()}))
    assert outcome.data == b'{"p":{"child":"child","done":false}}'

"""Streamed lists: their parts, errors, order and cancellation."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from graphql import GraphQLError, GraphQLSchema, build_schema, parse

from gateway.execution.compile.engine import Engine
from tests.execution.comparing import new_engine
from tests.execution.deferring import compare
from tests.execution.drawing import Seeded
from tests.execution.parts import PartsOf
from tests.execution.slicing import in_slices
from tests.scale import scaled, seed

# a coroutine that was never awaited is an error
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("error")]
SCHEMA = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
type Query { numbers: [Int] strict: [Int!] grid: [[Int]] heroes(size: Int = 3): [Hero]
             sure: [Hero!]! late: [String] lateStrict: [String!] hero: Hero none: [Hero]
             some: [Hero] }
type Mutation { rename: Hero }
type Hero { id: ID! name: String bad: String badNonNull: String! slow: String friends: [Hero] }
"""


class Hero:
    def __init__(self, world: "World", id: str) -> None:
        self.world, self.id, self.name = world, id, f"hero {id}"

    def bad(self, info: Any) -> str:
        raise GraphQLError("bad")

    def badNonNull(self, info: Any) -> str:  # noqa: N802
        if self.id in self.world.failing:
            raise GraphQLError("bad")
        return "good"

    async def slow(self, info: Any) -> str:
        self.world.calls[f"slow {self.id}"] += 1
        self.world.waiting.set()
        try:
            await self.world.door.wait()
        except asyncio.CancelledError:
            self.world.cancelled.append(self.id)
            raise
        return "slow"

    def friends(self, info: Any) -> "list[Hero]":
        self.world.calls["friends"] += 1
        return [Hero(self.world, f"{self.id}{name}") for name in "ab"]


class World:
    """The resolvers' root: what they were called for, and what they wait for."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: Counter[str] = Counter()
        self.door, self.waiting = asyncio.Event(), asyncio.Event()
        self.cancelled: list[str] = []
        self.numbers, self.grid, self.none = [1, 2, 3, 4], [[1, 2], [3], []], None
        self.strict = [1, 2, None, 4]

    def heroes(self, info: Any, size: int) -> "list[Hero]":
        return [Hero(self, str(n)) for n in range(size)]

    def sure(self, info: Any) -> "list[Hero]":
        return self.heroes(info, 3)

    def hero(self, info: Any) -> Hero:
        return Hero(self, "0")

    rename = hero

    async def some(self, info: Any) -> Any:
        await asyncio.sleep(0)
        return iter(self.heroes(info, 3))

    async def lateStrict(self, info: Any) -> list[Any]:  # noqa: N802
        return [None, *await self.late(info)]

    async def late(self, info: Any) -> list[Any]:
        async def one(n: int) -> str:
            self.calls[f"late {n}"] += 1
            await self.door.wait()
            return f"late {n}"

        return ["now", one(1), one(2)]


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema(SCHEMA)


class Response(PartsOf):
    def __init__(self, schema: GraphQLSchema, text: str, *failing: str, **variables: Any) -> None:
        super().__init__(schema, text, World(*failing), variables)


CASES = scaled(36, 3000)


@pytest.mark.parametrize("trouble", [0, None], ids=["without errors", "with errors"])
@pytest.mark.parametrize("sliced", [False, True], ids=["at once", "in slices"])
def test_the_parts_together_are_the_whole_answer(
    monkeypatch: pytest.MonkeyPatch, trouble: int | None, sliced: bool
) -> None:
    name, seen = seed(f"stream-{sliced}"), Counter[str]()
    if sliced:
        in_slices(monkeypatch, size=1, budget=-1.0)
    with asyncio.Runner() as runner:
        for case in range(CASES):
            world = Seeded(f"{name}-{case // 10}")
            drawn = Seeded(f"{name} {case}")
            seen += runner.run(compare(world, drawn, new_engine, trouble=trouble, streams=True))
    assert seen["streamed"] > CASES / 12
    assert trouble == 0 or seen["errors"]


async def test_the_later_items_come_after_the_first(schema: GraphQLSchema) -> None:
    found = await Response(schema, '{ numbers @stream(initialCount: 1, label: "n") }').all()
    assert found == [{"numbers": [1]}, [(["numbers", 1], "n", [2, 3, 4])]]


@pytest.mark.parametrize("count", [4, 9])
async def test_a_list_that_has_no_more_items_has_no_part(schema: GraphQLSchema, count: int) -> None:
    response = Response(
        schema, f"{{ numbers @stream(initialCount: {count}) none @stream {{ id }} }}"
    )
    assert await response.all() == [{"numbers": [1, 2, 3, 4], "none": None}]


async def test_later_items_are_not_begun_before_the_first_part_is_done(
    schema: GraphQLSchema,
) -> None:
    response = Response(schema, "{ late @stream(initialCount: 1) }")
    assert await response.initial() == {"late": ["now"]}
    assert not response.world.calls
    response.world.door.set()
    assert await response.next() == [(["late", 1], None, ["late 1", "late 2"])]
    assert not response.rest.has_next
    await response.close()


@pytest.mark.parametrize(
    ("arguments", "variables", "first"),
    [
        ("if: false", {}, 4),
        ("if: $if", {"if": False}, 4),
        ("if: $absent", {}, 0),
        ("if: $if, initialCount: $n", {"n": 2}, 2),
        ("initialCount: $n", {}, 1),
        ("initialCount: $n", {"n": None}, 0),
    ],
)
async def test_the_arguments_may_be_variables(
    schema: GraphQLSchema, arguments: str, variables: dict[str, Any], first: int
) -> None:
    declared = "$if: Boolean = true, $absent: Boolean, $n: Int = 1"
    text = f"query({declared}) {{ numbers @stream({arguments}) }}"
    found = await Response(schema, text, **variables).all()
    assert found[0] == {"numbers": [1, 2, 3, 4][:first]}
    assert len(found) == (1 if first == 4 else 2)


async def test_a_negative_count_is_an_error_of_the_field(schema: GraphQLSchema) -> None:
    text = "query($n: Int) { numbers @stream(initialCount: $n) late @stream(initialCount: $n) }"
    data, errors = await Response(schema, text, n=-1).initial()
    assert data == {"numbers": None, "late": None}
    assert [path for _, path in errors] == [["numbers"], ["late"]]
    assert "initialCount" in errors[0][0]


async def test_a_client_that_takes_one_part_gets_the_whole_list(schema: GraphQLSchema) -> None:
    outcome = await Engine(schema).compile(parse("{ numbers @stream }")).run(root=World())
    assert outcome.rest is None
    assert outcome.data == b'{"numbers":[1,2,3,4]}'


async def test_an_operation_that_graphql_core_executes_has_one_part(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ numbers @stream }")
    response.plan.fallback = "a test"
    assert await response.all() == [{"numbers": [1, 2, 3, 4]}]


async def test_objects_have_all_fields_and_their_lists(schema: GraphQLSchema) -> None:
    text = "{ heroes @stream(initialCount: 1) { id friends { id name } } }"
    initial, parts = await Response(schema, text).all()

    def hero(id: str) -> Any:
        friends = [{"id": f"{id}{name}", "name": f"hero {id}{name}"} for name in "ab"]
        return {"id": id, "friends": friends}

    assert initial == {"heroes": [hero("0")]}
    assert parts == [(["heroes", 1], None, [hero("1"), hero("2")])]


async def test_lists_of_one_place_come_together_each_in_its_part(schema: GraphQLSchema) -> None:
    text = "{ heroes(size: 2) { friends @stream(initialCount: 1) { id } } }"
    response = Response(schema, text)
    assert await response.all() == [
        {"heroes": [{"friends": [{"id": "0a"}]}, {"friends": [{"id": "1a"}]}]},
        [
            (["heroes", 0, "friends", 1], None, [{"id": "0b"}]),
            (["heroes", 1, "friends", 1], None, [{"id": "1b"}]),
        ],
    ]
    assert response.world.calls["friends"] == 2


async def test_later_items_have_their_deferred_fields_and_their_streams_at_once(
    schema: GraphQLSchema,
) -> None:
    text = """{ heroes(size: 2) @stream(initialCount: 1) {
      id ... @defer { name } friends @stream { id } } }"""
    initial, *later = await Response(schema, text).all()
    assert initial == {"heroes": [{"id": "0", "friends": []}]}
    friends = [{"id": "1a"}, {"id": "1b"}]
    assert sorted((part for parts in later for part in parts), key=str) == [
        (["heroes", 0, "friends", 0], None, [{"id": "0a"}, {"id": "0b"}]),
        (["heroes", 0], None, {"name": "hero 0"}),
        (["heroes", 1], None, [{"id": "1", "name": "hero 1", "friends": friends}]),
    ]


async def test_a_list_in_a_deferred_fragment_comes_after_the_fragment(
    schema: GraphQLSchema,
) -> None:
    text = """{ hero { id ... @defer { name friends @stream(initialCount: 1) { id } }
                          ... @defer { slow } } }"""
    response = Response(schema, text)
    assert await response.initial() == {"hero": {"id": "0"}}
    fragment = {"name": "hero 0", "friends": [{"id": "0a"}]}
    assert await response.next() == [(["hero"], None, fragment)]
    assert await response.next() == [(["hero", "friends", 1], None, [{"id": "0b"}])]
    response.world.door.set()
    assert await response.next() == [(["hero"], None, {"slow": "slow"})]
    assert not response.rest.has_next
    await response.close()


async def test_a_list_of_a_part_without_data_does_not_come(schema: GraphQLSchema) -> None:
    text = "{ heroes { id ... @defer { badNonNull friends @stream { id } } } }"
    _, fragments, lists = await Response(schema, text, "1").all()
    assert [data is None for _, _, data, *_ in fragments] == [False, True, False]
    assert [path for path, *_ in lists] == [["heroes", n, "friends", 0] for n in (0, 2)]


async def test_a_list_that_several_parts_have_comes_whole(schema: GraphQLSchema) -> None:
    text = "{ hero { ...F ... @defer { ...F } } } fragment F on Hero { friends @stream { id } }"
    friends = [{"id": "0a"}, {"id": "0b"}]
    found = await Response(schema, text).all()
    assert found == [{"hero": {"friends": friends}}, [(["hero"], None, {"friends": friends})]]


async def test_an_error_of_a_later_item_stays_in_its_part(schema: GraphQLSchema) -> None:
    text = "{ heroes @stream(initialCount: 1) { id bad } }"
    found = await Response(schema, text).all()
    assert found[0] == ({"heroes": [{"id": "0", "bad": None}]}, [("bad", ["heroes", 0, "bad"])])
    items = [{"id": "1", "bad": None}, {"id": "2", "bad": None}]
    errors = [("bad", ["heroes", 1, "bad"]), ("bad", ["heroes", 2, "bad"])]
    assert found[1] == [(["heroes", 1], None, items, errors)]


async def test_a_null_makes_its_item_null(schema: GraphQLSchema) -> None:
    text = "{ heroes @stream(initialCount: 1) { badNonNull } }"
    found = await Response(schema, text, "1").all()
    errors = [("bad", ["heroes", 1, "badNonNull"])]
    assert found[1] == [(["heroes", 1], None, [None, {"badNonNull": "good"}], errors)]


async def test_items_that_can_not_be_null_are_null_together(schema: GraphQLSchema) -> None:
    text = '{ sure @stream(initialCount: 1, label: "s") { badNonNull } }'
    found = await Response(schema, text, "2").all()
    assert found[0] == {"sure": [{"badNonNull": "good"}]}
    assert found[1] == [(["sure", 1], "s", None, [("bad", ["sure", 2, "badNonNull"])])]
    text = "{ strict @stream(initialCount: 1) }"
    _, [(path, _, items, errors)] = await Response(schema, text).all()
    assert (path, items, errors[0][1]) == (["strict", 1], None, ["strict", 2])


async def test_a_list_that_an_error_removes_has_no_later_items(schema: GraphQLSchema) -> None:
    data, _ = await Response(schema, "{ strict @stream(initialCount: 3) }").initial()
    assert data == {"strict": None}
    assert (await Response(schema, "{ lateStrict @stream(initialCount: 1) }").all())[0][0] == {
        "lateStrict": None
    }  # its coroutines are closed
    text = "{ strict @stream(initialCount: 3) numbers @stream(initialCount: 3) }"
    found = await Response(schema, text).all()
    assert found[1] == [(["numbers", 3], None, [4])]


async def test_lists_of_lists_and_iterators(schema: GraphQLSchema) -> None:
    text = "{ grid @stream(initialCount: 1) some @stream(initialCount: 1) { id } }"
    found = await Response(schema, text).all()
    assert found[0] == {"grid": [[1, 2]], "some": [{"id": "0"}]}
    assert sorted(found[1], key=str) == [
        (["grid", 1], None, [[3], []]),
        (["some", 1], None, [{"id": "1"}, {"id": "2"}]),
    ]


async def test_a_fast_list_does_not_wait_for_a_slow_one(schema: GraphQLSchema) -> None:
    text = "{ heroes @stream(initialCount: 2) { slow } numbers @stream(initialCount: 3) }"
    response = Response(schema, text)
    response.world.door.set()
    slow = {"slow": "slow"}
    assert await response.initial() == {"heroes": [slow, slow], "numbers": [1, 2, 3]}
    response.world.door.clear()
    assert await response.next() == [(["numbers", 3], None, [4])]
    response.world.door.set()
    assert await response.next() == [(["heroes", 2], None, [slow])]
    await response.close()


async def test_closing_cancels_the_later_items(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ heroes @stream { slow } numbers @stream late @stream }")
    await response.initial()
    assert await response.next() == [(["numbers", 0], None, [1, 2, 3, 4])]
    assert response.world.calls["slow 2"] == 1
    await response.close()
    assert sorted(response.world.cancelled) == ["0", "1", "2"]


async def test_items_that_were_never_begun_are_closed(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ late @stream hero { ... @defer { slow } } }")
    await response.initial()
    await response.close()  # pytest makes an error of a coroutine that was never awaited
    assert not response.world.calls["late 1"]


async def test_items_of_a_request_that_is_cancelled_are_closed(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ late @stream heroes(size: 1) { slow } }")
    starting = asyncio.create_task(response.initial())
    await response.world.waiting.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert response.world.cancelled == ["0"]


async def test_unfinished_lists_are_null_with_the_error(schema: GraphQLSchema) -> None:
    response = Response(schema, '{ heroes(size: 2) { friends @stream(label: "f") { id } } }')
    await response.initial()
    parts = response.rest.unfinished(GraphQLError("late"))
    assert [(part.path, part.label, part.key, part.data) for part in parts] == [
        (["heroes", n, "friends", 0], "f", "items", None) for n in range(2)
    ]
    assert not response.rest.has_next
    await response.close()


async def test_a_mutation_may_stream_lists_of_its_payload(schema: GraphQLSchema) -> None:
    found = await Response(schema, "mutation { rename { friends @stream { id } } }").all()
    items = [{"id": "0a"}, {"id": "0b"}]
    assert found == [{"rename": {"friends": []}}, [(["rename", "friends", 0], None, items)]]


async def test_a_field_that_runs_again_streams_its_list_once(schema: GraphQLSchema) -> None:
    plan = Engine(schema).compile(parse("mutation { rename { friends @stream { id } } }"))
    again = iter([True, False])
    outcome = await plan.run(root=World(), again=lambda: next(again), incremental=True)
    assert outcome.rest is not None
    (part,) = await outcome.rest.next()
    assert not outcome.rest.has_next
    assert part.path == ["rename", "friends", 0]
    await outcome.rest.close()

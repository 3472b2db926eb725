"""Deferred fragments: their parts, errors, order and cancellation."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import GraphQLError, GraphQLSchema, build_schema, parse

from gateway.execution.compile.engine import Engine
from gateway.execution.compile.plan import VARIANTS
from tests.execution.comparing import new_engine
from tests.execution.deferring import Merged, compare
from tests.execution.drawing import Seeded
from tests.execution.parts import PartsOf
from tests.execution.slicing import in_slices
from tests.scale import scaled, seed

pytestmark = pytest.mark.anyio
SCHEMA = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
type Query { hero: Hero, heroes: [Hero!], missing: Hero, any: [Being] }
type Mutation { rename: Hero }
interface Being { id: ID! }
type Hero implements Being {
  id: ID! name: String slow: String later: String bad: String badNonNull: String!
  friend: Hero friends: [Hero] badFriends: [Hero!]
}
type Robot implements Being { id: ID! model: String }
"""


class Robot:
    def __init__(self, id: str) -> None:
        self.id, self.model = id, f"model {id}"


class World:
    """The resolvers' root: what they were called for, and what they wait for."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.doors: dict[str, asyncio.Event] = {}
        self.cancelled: list[str] = []

    def hero(self, info: Any) -> "Hero":
        self.calls["hero"] += 1
        return Hero(self, "1")

    def heroes(self, info: Any) -> "list[Hero]":
        self.calls["heroes"] += 1
        return [Hero(self, "1"), Hero(self, "2"), Hero(self, "3")]

    def any(self, info: Any) -> "list[Hero | Robot | None]":
        return [Hero(self, "1"), None, Robot("2")]

    rename = hero

    def door(self, name: str) -> asyncio.Event:
        return self.doors.setdefault(name, asyncio.Event())

    async def behind(self, name: str) -> str:
        self.calls[name] += 1
        try:
            await self.door(name).wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        return name


class Hero:
    def __init__(self, world: World, id: str) -> None:
        self.world, self.id, self.name = world, id, f"hero {id}"

    async def slow(self, info: Any) -> str:
        return await self.world.behind("slow")

    async def later(self, info: Any) -> str:
        return await self.world.behind("later")

    def bad(self, info: Any) -> str:
        raise GraphQLError("bad")

    def badNonNull(self, info: Any) -> str:  # noqa: N802
        if self.id == "2":
            raise GraphQLError("bad")
        return "good"

    def friend(self, info: Any) -> "Hero":
        self.world.calls["friend"] += 1
        return Hero(self.world, f"{self.id}f")

    def friends(self, info: Any) -> "list[Hero | None]":
        self.world.calls["friends"] += 1
        return [Hero(self.world, f"{self.id}a"), None, Hero(self.world, f"{self.id}b")]

    def badFriends(self, info: Any) -> "list[Hero]":  # noqa: N802
        return [Hero(self.world, "1"), Hero(self.world, "2")]


@pytest.fixture
def schema() -> GraphQLSchema:
    schema = build_schema(SCHEMA)
    for name in ("Hero", "Robot"):
        kind = {"Hero": Hero, "Robot": Robot}[name]
        schema.get_type(name).is_type_of = lambda value, _, kind=kind: isinstance(value, kind)  # type: ignore[union-attr]
    return schema


class Response(PartsOf):
    def __init__(self, schema: GraphQLSchema, text: str, **variables: Any) -> None:
        super().__init__(schema, text, World(), variables)


CASES = scaled(150, 3000)


def _compare(name: str, cases: int, trouble: int | None) -> Counter[str]:
    seen: Counter[str] = Counter()
    with asyncio.Runner() as runner:
        for case in range(cases):
            world = Seeded(f"{name}-{case // 10}")
            compared = compare(world, Seeded(f"{name} {case}"), new_engine, trouble=trouble)
            seen += runner.run(compared)
    return seen


@pytest.mark.parametrize("trouble", [0, None], ids=["without errors", "with errors"])
def test_the_parts_together_are_the_whole_answer(trouble: int | None) -> None:
    seen = _compare(seed("defer"), CASES, trouble)
    assert seen["deferred"] > CASES / 3
    assert seen["several parts"] > CASES / 5
    assert trouble == 0 or seen["failed"]


def test_slices_of_one_value_give_the_same_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    in_slices(monkeypatch, size=1, budget=-1.0)
    _compare(seed("defer-slices"), CASES // 3, None)


async def test_a_fragment_comes_after_the_initial_part(schema: GraphQLSchema) -> None:
    text = """
      { hero { id ...Name @defer(label: "name") } }
      fragment Name on Hero { name friend { id } }
    """
    initial, parts = await Response(schema, text).all()
    assert initial == {"hero": {"id": "1"}}
    data = {"name": "hero 1", "friend": {"id": "1f"}}
    assert parts == [(["hero"], "name", data)]


async def test_a_deferred_field_is_not_begun_before_the_initial_part_is_done(
    schema: GraphQLSchema,
) -> None:
    response = Response(schema, "{ hero { id ... @defer { slow friend { name } } } }")
    assert await response.initial() == {"hero": {"id": "1"}}
    assert response.world.calls == {"hero": 1}
    response.world.door("slow").set()
    assert await response.next() == [
        (["hero"], None, {"slow": "slow", "friend": {"name": "hero 1f"}})
    ]
    assert response.world.calls == {"hero": 1, "slow": 1, "friend": 1}
    await response.close()


async def test_the_root_can_be_deferred(schema: GraphQLSchema) -> None:
    found = await Response(schema, '{ ... @defer(label: "q") { hero { id } } }').all()
    assert found == [{}, [([], "q", {"hero": {"id": "1"}})]]


async def test_each_item_has_a_part_and_all_come_together(schema: GraphQLSchema) -> None:
    found = await Response(schema, "{ heroes { id ... @defer { name } } }").all()
    assert found[0] == {"heroes": [{"id": "1"}, {"id": "2"}, {"id": "3"}]}
    assert found[1:] == [
        [(["heroes", n], None, {"name": f"hero {n + 1}"}) for n in range(3)],
    ]


async def test_items_of_an_interface_have_parts_by_their_type(schema: GraphQLSchema) -> None:
    text = "{ any { id ... on Hero @defer { name } ... on Robot @defer { id model } } }"
    initial, parts = await Response(schema, text).all()
    assert initial == {"any": [{"id": "1"}, None, {"id": "2"}]}
    assert sorted(parts) == [
        (["any", 0], None, {"name": "hero 1"}),
        (["any", 2], None, {"id": "2", "model": "model 2"}),
    ]


async def test_a_part_has_all_fields_of_its_fragment_and_no_resolver_is_called_twice(
    schema: GraphQLSchema,
) -> None:
    text = """{
      hero { friends { id } ... @defer { friends { id name } } }
      ... @defer(label: "all") { hero { friend { id } friends { friend { id } } } }
    }"""
    response = Response(schema, text)
    initial, parts = await response.all()
    assert initial == {"hero": {"friends": [{"id": "1a"}, None, {"id": "1b"}]}}
    friends = [{"id": "1a", "name": "hero 1a"}, None, {"id": "1b", "name": "hero 1b"}]
    friends_of_friends: list[Any] = [{"friend": {"id": "1af"}}, None, {"friend": {"id": "1bf"}}]
    whole = {"hero": {"friend": {"id": "1f"}, "friends": friends_of_friends}}
    assert sorted(parts, key=str) == [
        (["hero"], None, {"friends": friends}),
        ([], "all", whole),
    ]
    assert response.world.calls == {"hero": 1, "friends": 1, "friend": 3}


async def test_a_fast_fragment_does_not_wait_for_a_slow_one(schema: GraphQLSchema) -> None:
    text = '{ hero { ... @defer(label: "s") { slow } ... @defer(label: "f") { name } } }'
    response = Response(schema, text)
    assert await response.initial() == {"hero": {}}
    assert await response.next() == [(["hero"], "f", {"name": "hero 1"})]
    assert response.rest.has_next
    response.world.door("slow").set()
    assert await response.next() == [(["hero"], "s", {"slow": "slow"})]
    assert not response.rest.has_next
    await response.close()


async def test_two_fragments_share_a_field_and_wait_for_it(schema: GraphQLSchema) -> None:
    text = """{ hero {
      ... @defer(label: "a") { friend { id slow } }
      ... @defer(label: "b") { friend { id name } }
    } }"""
    response = Response(schema, text)
    assert await response.initial() == {"hero": {}}
    b = {"friend": {"id": "1f", "name": "hero 1f"}}
    assert await response.next() == [(["hero"], "b", b)]
    response.world.door("slow").set()
    assert await response.next() == [(["hero"], "a", {"friend": {"id": "1f", "slow": "slow"}})]
    assert response.world.calls == {"hero": 1, "friend": 1, "slow": 1}
    await response.close()


async def test_a_nested_fragment_begins_after_the_part_around_it(schema: GraphQLSchema) -> None:
    text = """{ hero { ... @defer(label: "o") {
      slow friend { id ... @defer(label: "i") { later } } } } }"""
    response = Response(schema, text)
    assert await response.initial() == {"hero": {}}
    response.world.door("slow").set()
    response.world.door("later").set()
    outer = (["hero"], "o", {"slow": "slow", "friend": {"id": "1f"}})
    assert await response.next() == [outer]
    assert response.world.calls == {"hero": 1, "friend": 1, "slow": 1}
    assert await response.next() == [(["hero", "friend"], "i", {"later": "later"})]
    assert not response.rest.has_next
    await response.close()


async def test_nested_fragments_that_begin_together_share_a_field(schema: GraphQLSchema) -> None:
    text = """{ hero {
      ... @defer(label: "a") { id ... @defer(label: "c") { friend { id } } }
      ... @defer(label: "b") { name ... @defer(label: "d") { friend { name } } }
    } }"""
    response = Response(schema, text)
    _, outer, inner = await response.all()
    assert {label for _, label, _ in outer} == {"a", "b"}
    assert sorted(inner, key=str) == [
        (["hero"], "c", {"friend": {"id": "1f"}}),
        (["hero"], "d", {"friend": {"name": "hero 1f"}}),
    ]
    assert response.world.calls == {"hero": 1, "friend": 1}


async def test_an_operation_that_graphql_core_executes_has_one_part(schema: GraphQLSchema) -> None:
    response = Response(schema, '{ hero { id ... @defer(label: "later") { name } } }')
    response.plan.fallback = "a test"
    assert await response.all() == [{"hero": {"id": "1", "name": "hero 1"}}]
    await response.close()


@pytest.mark.parametrize(
    ("directive", "variables"),
    [("@defer(if: false)", {}), ("@defer(if: $if)", {"if": False})],
)
async def test_without_a_true_condition_there_is_one_part(
    schema: GraphQLSchema, directive: str, variables: dict[str, Any]
) -> None:
    text = f"query($if: Boolean = true) {{ hero {{ id ... {directive} {{ name }} }} }}"
    found = await Response(schema, text, **variables).all()
    assert found == [{"hero": {"id": "1", "name": "hero 1"}}]


@pytest.mark.parametrize("type_", ["Boolean = true", "Boolean"])
async def test_the_condition_may_be_a_variable(schema: GraphQLSchema, type_: str) -> None:
    """Without a value, the directive's default holds."""
    text = f"query($if: {type_}) {{ hero {{ id ... @defer(if: $if) {{ name }} }} }}"
    expected = [{"hero": {"id": "1"}}, [(["hero"], None, {"name": "hero 1"})]]
    assert await Response(schema, text).all() == expected
    assert await Response(schema, text, **{"if": True}).all() == expected


async def test_a_condition_without_a_value_does_not_fall_back_to_graphql_core(
    schema: GraphQLSchema,
) -> None:
    engine = new_engine(schema)
    plan = engine.compile(parse("query($if: Boolean) { hero { ... @defer(if: $if) { name } } }"))
    outcome = await plan.run(root=World(), incremental=False)
    assert (outcome.data, outcome.errors) == (b'{"hero":{"name":"hero 1"}}', [])
    assert engine.fallbacks == 0


async def test_a_client_that_takes_one_part_gets_all_fields_in_their_order(
    schema: GraphQLSchema,
) -> None:
    text = "{ hero { ...F @defer name ...F } } fragment F on Hero { id }"
    outcome = await Engine(schema).compile(parse(text)).run(root=World())
    assert outcome.rest is None
    assert outcome.data == b'{"hero":{"id":"1","name":"hero 1"}}'


async def test_a_fragment_without_an_object_has_no_part(schema: GraphQLSchema) -> None:
    found = await Response(schema, "{ missing { id ... @defer { name } } }").all()
    assert found == [{"missing": None}]
    found = await Response(schema, "{ any { ... on Being @skip(if: true) { id } } }").all()
    assert len(found) == 1


async def test_an_error_stays_in_its_part(schema: GraphQLSchema) -> None:
    found = await Response(schema, "{ hero { id ... @defer { bad name } } }").all()
    errors = [("bad", ["hero", "bad"])]
    assert found == [
        {"hero": {"id": "1"}},
        [(["hero"], None, {"bad": None, "name": "hero 1"}, errors)],
    ]


async def test_a_null_does_not_leave_its_part(schema: GraphQLSchema) -> None:
    text = '{ heroes { id ... @defer(label: "d") { badNonNull ... @defer { name } } } }'
    initial, outer, inner = await Response(schema, text).all()
    assert initial == {"heroes": [{"id": "1"}, {"id": "2"}, {"id": "3"}]}
    assert outer == [
        (["heroes", 0], "d", {"badNonNull": "good"}),
        (["heroes", 1], "d", None, [("bad", ["heroes", 1, "badNonNull"])]),
        (["heroes", 2], "d", {"badNonNull": "good"}),
    ]
    # A part without data has no parts inside it.
    assert [path for path, *_ in inner] == [["heroes", 0], ["heroes", 2]]


async def test_a_null_inside_a_part_is_at_the_nearest_nullable_field(
    schema: GraphQLSchema,
) -> None:
    text = "{ hero { id ... @defer { name badFriends { badNonNull } } } }"
    found = await Response(schema, text).all()
    errors = [("bad", ["hero", "badFriends", 1, "badNonNull"])]
    assert found[1] == [(["hero"], None, {"name": "hero 1", "badFriends": None}, errors)]


async def test_a_field_that_an_earlier_part_has_does_not_become_null(
    schema: GraphQLSchema,
) -> None:
    text = "{ hero { badFriends { id } ... @defer { badFriends { badNonNull } } } }"
    initial, parts = await Response(schema, text).all()
    assert initial == {"hero": {"badFriends": [{"id": "1"}, {"id": "2"}]}}
    assert parts == [(["hero"], None, None, [("bad", ["hero", "badFriends", 1, "badNonNull"])])]


async def test_an_error_of_two_parts_is_in_both_if_they_have_no_data(
    schema: GraphQLSchema,
) -> None:
    text = """{ heroes { id ... @defer(label: "a") { badNonNull name }
                         ... @defer(label: "b") { badNonNull } } }"""
    _, parts = await Response(schema, text).all()
    failed = [part for part in parts if part[0] == ["heroes", 1]]
    errors = [("bad", ["heroes", 1, "badNonNull"])]
    assert failed == [(["heroes", 1], "a", None, errors), (["heroes", 1], "b", None, errors)]


async def test_errors_of_all_parts_together_are_bounded(schema: GraphQLSchema) -> None:
    plan = Engine(schema, most_errors=3).compile(
        parse("{ heroes { bad ... @defer { b: bad } ... @defer { c: bad } } }")
    )
    outcome = await plan.run(root=World(), incremental=True)
    assert len(outcome.errors) == 3
    assert outcome.rest is not None
    parts = await outcome.rest.next()
    assert [part.errors for part in parts] == [[]] * 6
    assert len(outcome.rest.failures.left_out) == 6
    await outcome.rest.close()


async def test_a_mutation_may_defer_fields_of_its_payload(schema: GraphQLSchema) -> None:
    found = await Response(schema, "mutation { rename { id ... @defer { name } } }").all()
    assert found == [{"rename": {"id": "1"}}, [(["rename"], None, {"name": "hero 1"})]]


async def test_closing_cancels_the_deferred_fields(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ hero { ... @defer { slow } ... @defer { name } } }")
    await response.initial()
    await response.next()
    assert response.world.calls["slow"] == 1
    await response.close()
    assert response.world.cancelled == ["slow"]


async def test_a_cancelled_request_cancels_the_deferred_fields(schema: GraphQLSchema) -> None:
    response = Response(schema, "{ hero { ... @defer { slow later } } }")
    await response.initial()
    waiting = asyncio.create_task(response.next())
    while response.world.calls["later"] < 1:  # noqa: ASYNC110
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert sorted(response.world.cancelled) == ["later", "slow"]
    await response.close()


async def test_unfinished_parts_get_the_error_of_the_deadline(schema: GraphQLSchema) -> None:
    response = Response(schema, '{ heroes { ... @defer(label: "s") { slow } } }')
    await response.initial()
    error = GraphQLError("late")
    parts = response.rest.unfinished(error)
    assert [(part.path, part.label, part.data) for part in parts] == [
        (["heroes", n], "s", None) for n in range(3)
    ]
    assert all(part.errors == [error] for part in parts)
    assert not response.rest.has_next
    await response.close()


async def test_a_variant_that_is_dropped_meanwhile_gives_all_parts(
    schema: GraphQLSchema,
) -> None:
    """The plan keeps a bounded number of variants."""
    names = [f"v{n}" for n in range(6)]
    declared = ", ".join(f"${name}: Boolean!" for name in names)
    fields = " ".join(f"{name}: name @skip(if: ${name})" for name in names)
    text = f"""query({declared}) {{ hero {{ ... @defer {{ friend {{
      ... @defer {{ {fields} friend {{ id ... @defer {{ name }} }} }} }} }} }} }}"""
    response = Response(schema, text, **dict.fromkeys(names, True))
    await response.initial()
    for bits in _bits(VARIANTS + 1):
        given = {name: bits >> n & 1 == 0 for n, name in enumerate(names)}
        await response.plan.run(root=World(), variables={**given, "v5": False})
    merged = Merged({"hero": {}})
    while response.rest.has_next:
        for path, _, data in await response.next():
            merged.add(path, data)
    await response.close()
    assert merged.data == {"hero": {"friend": {"friend": {"id": "1ff", "name": "hero 1ff"}}}}


def _bits(count: int) -> Iterator[int]:
    yield from range(count)

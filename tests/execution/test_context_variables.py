"""Each resolver sees the same context variables as with graphql-core."""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from graphql import parse

from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.execution.both import both, plan_of
from tests.execution.reference import Outcome

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")


@both
def test_a_context_variable_reaches_the_fields_below_and_no_sibling(
    engine: Callable[[Any], Any],
) -> None:
    async def run() -> Outcome:
        async def read(info: Any) -> str:
            before = NAME.get()
            await asyncio.sleep(0)
            return f"{before} {NAME.get()}"

        def setting(name: str) -> Any:
            async def resolve(info: Any) -> Any:
                NAME.set(name)
                await asyncio.sleep(0)
                assert NAME.get() == name
                await asyncio.sleep(0)
                return SimpleNamespace(read=read, sync=lambda info: NAME.get(), nest=nest)

            return resolve

        async def nest(info: Any) -> Any:
            await asyncio.sleep(0)
            return SimpleNamespace(read=read, sync=lambda info: NAME.get())

        root = SimpleNamespace(ann=setting("ann"), bob=setting("bob"), read=read)
        sdl = (
            "type Query { read: String ann: Who bob: Who }"
            " type Who { read: String sync: String nest: Who }"
        )
        query = "{ read ann { read sync nest { read sync } } bob { sync read } last: read }"
        return await plan_of(engine, sdl, query).run(root=root)

    outcome = asyncio.run(run())
    assert outcome.data == (
        b'{"read":"nobody nobody","ann":{"read":"ann ann","sync":"ann",'
        b'"nest":{"read":"ann ann","sync":"ann"}},"bob":{"sync":"bob","read":"bob bob"},'
        b'"last":"nobody nobody"}'
    )


@both
def test_a_mutation_sees_the_context_variables_of_the_fields_before_it(
    engine: Callable[[Any], Any],
) -> None:
    async def run() -> Outcome:
        async def add(info: Any) -> Any:
            await asyncio.sleep(0)
            NAME.set(f"{NAME.get()}+")
            return SimpleNamespace(name=lambda info: NAME.get())

        sdl = "type Query { a: Int } type Mutation { add: Added } type Added { name: String }"
        query = "mutation { a: add { name } b: add { name } }"
        return await plan_of(engine, sdl, query).run(root=SimpleNamespace(add=add))

    assert asyncio.run(run()).data == b'{"a":{"name":"nobody+"},"b":{"name":"nobody++"}}'


@both
def test_a_mutation_sees_the_context_variables_of_leaf_fields_before_it(
    engine: Callable[[Any], Any],
) -> None:
    async def run() -> Outcome:
        async def add(info: Any) -> str:
            await asyncio.sleep(0)
            NAME.set(f"{NAME.get()}+")
            return NAME.get()

        sdl = "type Query { a: Int } type Mutation { add: String }"
        return await plan_of(engine, sdl, "mutation { a: add b: add }").run(
            root=SimpleNamespace(add=add)
        )

    assert asyncio.run(run()).data == b'{"a":"nobody+","b":"nobody++"}'


IN_LINE = {
    "{ later }": "+",
    "{ now { later } }": "+",
    "{ nested { later } }": "+",
    "{ nested { later } now { now { name } } }": "+",
    "{ one { later } }": "+",
    "{ none { later } nested { name } }": "",
    "{ at }": "+",
    "{ nested { at } }": "+",
    "{ later again: later }": "",
    "{ at again: at }": "",
    "{ later nested { name } }": "",
    "{ now { later } again: now { later } }": "",
    "{ some { later } }": "",
    "{ nested { some { later } later } }": "",
}
"""Selections below a root field of a mutation, each with the value that the next root field sees.
Each awaitable appends "+" to the value."""


@pytest.mark.parametrize("asked", IN_LINE)
@both
def test_a_mutation_sees_context_variables_set_below_the_field_before_it(
    asked: str, engine: Callable[[Any], Any]
) -> None:
    """The next root field sees them if the awaitables were awaited one at a time: graphql-core
    makes no task for these."""

    async def at(info: Any) -> str:
        NAME.set(f"{NAME.get()}+")
        return NAME.get()

    async def later(info: Any) -> str:
        await asyncio.sleep(0)
        return await at(info)

    async def nested(info: Any) -> Any:
        return who

    who = SimpleNamespace(at=at, later=later, nested=nested, name=lambda info: "name")
    who.now, who.one, who.some, who.none = who, [who], [who, who], []
    sdl = """type Query { a: Int }
        type Mutation { a: Who b: Who }
        type Who { at: String later: String name: String nested: Who now: Who
            one: [Who] some: [Who] none: [Who] seen: String }"""
    who.seen = lambda info: NAME.get()

    async def run() -> Outcome:
        NAME.set("")
        query = (
            f"mutation {{ a {asked} b {{ seen }} c: a {asked} d: a {asked} last: b {{ seen }} }}"
        )
        return await plan_of(engine, sdl, query).run(root=SimpleNamespace(a=who, b=nested))

    data = orjson.loads(asyncio.run(run()).data or b"")
    assert data["b"] == {"seen": IN_LINE[asked]}
    assert data["last"] == {"seen": 3 * IN_LINE[asked]}


@bulk
async def friend(context: Any, people: Sequence["Person"]) -> Sequence["Person"]:
    await asyncio.sleep(0)
    return people


@strawberry.type
class Person:
    name: str = "name"
    friend: "Person | None" = field_of(friend, "Another.")

    @strawberry.field
    def some(self, count: int) -> list["Person"]:
        return [Person(name=f"{number}") for number in range(count)]

    @strawberry.field
    def perhaps_later(self) -> str:
        return "now" if self.name == "1" else self.later()  # type: ignore[return-value]

    @strawberry.field
    async def later(self) -> str:
        NAME.set(f"{NAME.get()}+")
        await asyncio.sleep(0)
        return NAME.get()

    @strawberry.field
    def seen(self) -> str:
        return NAME.get()


@strawberry.type
class Change:
    @strawberry.mutation
    async def change(self) -> Person:
        return Person()


IN_LINE_IN_BULK = {
    "{ later }": "+",
    "{ friend { later } }": "+",
    "{ friend { name } later }": "",
    "{ some(count: 1) { friend { later } } }": "+",
    "{ some(count: 2) { friend { later } } }": "",
    "{ some(count: 2) { friend { perhapsLater } } }": "",
    "{ some(count: 2) { perhapsLater } }": "+",
    "{ some(count: 2) { friend { name } } later }": "",
    "{ some(count: 2) { later } }": "",
}


@pytest.mark.parametrize("asked", IN_LINE_IN_BULK)
@both
def test_a_mutation_sees_context_variables_set_below_bulk_resolvers(
    asked: str, engine: Callable[[Any], Any]
) -> None:
    schema = strawberry.Schema(Person, Change)._schema

    async def run() -> Outcome:
        NAME.set("")
        query = f"mutation {{ a: change {asked} b: change {{ seen }} }}"
        return await engine(schema).compile(parse(query), None).run()  # type: ignore[no-any-return]

    data = orjson.loads(asyncio.run(run()).data or b"")
    assert data["b"] == {"seen": IN_LINE_IN_BULK[asked]}


@both
def test_resolvers_see_the_context_variables_of_the_caller(engine: Callable[[Any], Any]) -> None:
    async def run() -> Outcome:
        async def read(info: Any) -> str:
            await asyncio.sleep(0)
            return NAME.get()

        NAME.set("caller")
        root = SimpleNamespace(a=read, b=lambda info: NAME.get())
        sdl = "type Query { a: String b: String }"
        return await plan_of(engine, sdl, "{ a b }").run(root=root)

    assert asyncio.run(run()).data == b'{"a":"caller","b":"caller"}'

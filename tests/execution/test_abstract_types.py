"""Interfaces and unions, with each way to resolve their type (after graphql-core's tests)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
)

from tests.execution.answering import answer


class Dog:
    name, barks = "Odie", 2


class Cat:
    name, lives = "Garfield", 9


class Fish:
    name = "Nemo"


def later(function: Callable[..., Any]) -> Callable[..., Any]:
    async def resolve(*arguments: Any) -> Any:
        await asyncio.sleep(0)
        return function(*arguments)

    return resolve


def zoo(
    *,
    recognize: Callable[..., Any] | None = None,
    resolve: Callable[..., Any] | None = None,
    asynchronous: bool = False,
    pets: Any = None,
) -> GraphQLSchema:
    """Returns a schema with dogs and cats in an interface and in a union. The types are resolved by
    `resolve_type` or by `is_type_of`."""
    wrap = later if asynchronous else lambda function: function

    def recognizes(class_: type) -> Any:
        return wrap(lambda value, info: recognize(value, class_)) if recognize else None

    pet = GraphQLInterfaceType(
        "Pet",
        {"name": GraphQLField(GraphQLString)},
        resolve_type=wrap(resolve) if resolve else None,
    )
    fields = {"name": GraphQLField(GraphQLString)}
    dog = GraphQLObjectType(
        "Dog",
        {**fields, "barks": GraphQLField(GraphQLInt)},
        interfaces=[pet],
        is_type_of=recognizes(Dog),
    )
    cat = GraphQLObjectType(
        "Cat",
        {**fields, "lives": GraphQLField(GraphQLInt)},
        interfaces=[pet],
        is_type_of=recognizes(Cat),
    )
    either = GraphQLUnionType("Either", [dog, cat], resolve_type=wrap(resolve) if resolve else None)
    given = [Dog(), Cat()] if pets is None else pets
    query = GraphQLObjectType(
        "Query",
        {
            "pets": GraphQLField(GraphQLList(pet), resolve=lambda *_: given),
            "either": GraphQLField(GraphQLList(either), resolve=lambda *_: given),
            "dog": GraphQLField(dog, resolve=lambda *_: given[0]),
        },
    )
    return GraphQLSchema(query, types=[dog, cat])


def is_instance(value: Any, class_: type) -> bool:
    return isinstance(value, class_)


def class_name(value: Any, info: Any, type_: Any) -> str:
    return type(value).__name__


WAYS = [
    {"recognize": is_instance},
    {"recognize": is_instance, "asynchronous": True},
    {"resolve": class_name},
    {"resolve": class_name, "asynchronous": True},
    {"resolve": class_name, "recognize": is_instance, "asynchronous": True},
]
QUERIES = [
    "{ pets { __typename name ... on Dog { barks } ... on Cat { lives } } }",
    "{ either { __typename ... on Dog { name barks } ... on Cat { name lives } } }",
    "{ pets { ...D ...C name kind: __typename } } fragment D on Dog { barks } fragment C on Cat"
    " { lives }",
    "{ either { ... on Pet { name } ... on Either { ... on Dog { name barks name } } } }",
    "{ dog { ... on Pet { ... on Either { __typename } name } ... on Cat { lives } } }",
    "{ pets { ... on Dog { x: barks } ... on Cat { x: lives } } }",
]


@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
@pytest.mark.parametrize("query", QUERIES)
def test_types_are_resolved_and_fragments_apply(way: dict[str, Any], query: str) -> None:
    outcome = answer(zoo(**way), query, errors=[])
    assert b"Odie" in outcome.data or b"x" in outcome.data  # type: ignore[operator]


def test_a_value_may_name_its_type_itself() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self._Named__typename = name
            self.name = name

    pets = [{"__typename": "Dog", "name": "d"}, Named("Cat"), {"name": "nothing"}]
    answer(
        zoo(pets=pets),
        "{ pets { __typename name } }",
        data={
            "pets": [{"__typename": "Dog", "name": "d"}, {"__typename": "Cat", "name": "Cat"}, None]
        },
    )


WRONG: list[tuple[Any, str]] = [
    (None, "Abstract type 'Pet' must resolve to an Object type at runtime for field 'Query.pets'"),
    (5, "received '5', which is not a valid Object type name"),
    ("Nope", "was resolved to a type 'Nope' that does not exist inside the schema"),
    ("String", "was resolved to a non-object type 'String'"),
    ("Query", "Runtime Object type 'Query' is not a possible type for 'Pet'"),
    (ValueError("no idea"), "no idea"),
]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(("told", "says"), WRONG)
def test_a_wrong_type_name_is_an_error(told: Any, says: str, asynchronous: bool) -> None:
    def resolve(value: Any, info: Any, type_: Any) -> Any:
        if isinstance(value, Cat):
            return "Cat"
        if isinstance(told, Exception):
            raise told
        return told

    schema = zoo(resolve=resolve, asynchronous=asynchronous)
    outcome = answer(schema, "{ pets { name } }", data={"pets": [None, {"name": "Garfield"}]})
    assert says in outcome.errors[0].message
    assert outcome.errors[0].path == ["pets", 0]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_object_that_is_not_of_its_type_is_an_error(asynchronous: bool) -> None:
    schema = zoo(recognize=is_instance, asynchronous=asynchronous, pets=[Fish(), Dog()])
    outcome = answer(schema, "{ dog { name } }", data={"dog": None})
    assert outcome.errors[0].message.startswith("Expected value of type 'Dog' but got: <Fish")
    answer(schema, "{ pets { name } }", data={"pets": [None, {"name": "Odie"}]})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_error_of_is_type_of_is_an_error_of_the_field(asynchronous: bool) -> None:
    def recognize(value: Any, class_: type) -> bool:
        if class_ is Cat:
            raise RuntimeError("no cats")
        return isinstance(value, class_)

    answer(zoo(recognize=recognize, asynchronous=asynchronous), "{ pets { name } dog { name } }")


def test_a_type_resolver_gets_the_info_of_its_field() -> None:
    seen = []

    def resolve(value: Any, info: Any, type_: Any) -> str:
        seen.append(
            (info.field_name, info.path.as_list(), type_.name, info.context, info.root_value)
        )
        return type(value).__name__

    answer(zoo(resolve=resolve), "{ a: pets { name } }", context="context", root="root")
    assert seen == [("pets", ["a"], "Pet", "context", "root")] * 4


def test_unions_and_interfaces_can_be_introspected() -> None:
    query = """{
      Either: __type(name: "Either") { kind name fields { name } possibleTypes { name } }
      Pet: __type(name: "Pet") { kind interfaces { name } possibleTypes { name } }
    }"""
    outcome = answer(zoo(recognize=is_instance), query, errors=[])
    assert outcome.data is not None
    assert b'"possibleTypes":[{"name":"Dog"},{"name":"Cat"}]' in outcome.data

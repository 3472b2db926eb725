"""Lists, with each kind of iterable and each nullability (after graphql-core's tests)."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.execution.answering import answer

NULL = "Cannot return null for non-nullable field Query.list."


def failing(message: str) -> RuntimeError:
    return RuntimeError(message)


class Once:
    """An iterable that is not a list."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class LaterOnce:
    """An async iterator that is not a generator."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)

    def __aiter__(self) -> "LaterOnce":
        return self

    async def __anext__(self) -> Any:
        if not self.items:
            raise StopAsyncIteration
        return self.items.pop(0)


def generated(*items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, KeyError):
            raise item
        yield item


async def generated_later(*items: Any) -> AsyncIterator[Any]:
    for item in items:
        if isinstance(item, KeyError):
            raise item
        yield item


async def later(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


KINDS: list[Callable[..., Any]] = [
    lambda *items: list(items),
    lambda *items: tuple(items),
    lambda *items: deque(items),
    lambda *items: dict(enumerate(items)).values(),
    Once,
    LaterOnce,
    generated,
    generated_later,
]


@pytest.mark.parametrize("promised", [False, True], ids=["now", "later"])
@pytest.mark.parametrize("kind", KINDS, ids=range(len(KINDS)))
def test_each_iterable_completes_as_a_list_with_each_nullability(kind: Any, promised: bool) -> None:
    for type_ in ("[Int]", "[Int]!", "[Int!]", "[Int!]!"):
        for items in ([1, 2], [1, None, 2], [1, ValueError("bad"), 2], []):
            for awaited in (False, True):
                wrong = next((i for i in items if not isinstance(i, int)), 0)
                data: Any = {"list": [i if isinstance(i, int) else None for i in items]}
                errors: list[tuple[str, Any]] = []
                if wrong is None and "Int!" in type_:
                    errors = [(NULL, ["list", 1])]
                elif isinstance(wrong, ValueError):
                    errors = [("bad", ["list", 1])]
                if errors and "Int!" in type_:
                    data = None if type_.endswith("]!") else {"list": None}

                class Root:
                    def list(self, info: Any, awaited: bool = awaited, items: Any = items) -> Any:
                        given = kind(*(later(i) if awaited else i for i in items))
                        return later(given) if promised else given

                sdl = f"type Query {{ list: {type_} }}"
                answer(sdl, "{ list }", root=Root, data=data, errors=errors)


@pytest.mark.parametrize("value", [None, ValueError("bad")])
@pytest.mark.parametrize("promised", [False, True])
def test_a_list_itself_may_be_null_or_fail(value: Any, promised: bool) -> None:
    for type_ in ("[Int]", "[Int]!", "[Int!]", "[Int!]!"):
        required = type_.endswith("]!")
        message = "bad" if value else NULL
        errors = [(message, ["list"])] if value or required else []

        class Root:
            def list(self, info: Any) -> Any:
                return later(value) if promised else value

        data = None if required else {"list": None}
        answer(f"type Query {{ list: {type_} }}", "{ list }", root=Root, data=data, errors=errors)


@pytest.mark.parametrize("value", ["text", b"bytes", {"a": 1}, 5, 1.5, object])
def test_a_value_that_is_not_iterable_is_an_error(value: Any) -> None:
    message = "Expected Iterable, but did not find one for field 'Query.list'."
    answer(
        "type Query { list: [String] }",
        "{ list }",
        root=lambda_root(value),
        data={"list": None},
        errors=[(message, ["list"])],
    )


def lambda_root(value: Any) -> Any:
    return SimpleNamespace(list=lambda info: value)


@pytest.mark.parametrize("kind", [generated, generated_later])
@pytest.mark.parametrize("type_", ["[Int]", "[Int!]", "[Int]!"])
def test_an_error_of_a_generator_is_an_error_of_the_list(kind: Any, type_: str) -> None:
    class Root:
        def list(self, info: Any) -> Any:
            return kind(1, 2, KeyError("broken"), 3)

    data = None if type_.endswith("!") else {"list": None}
    answer(
        f"type Query {{ list: {type_} }}",
        "{ list }",
        root=Root,
        data=data,
        errors=[("'broken'", ["list"])],
    )


def test_lists_in_lists_have_errors_with_all_their_indexes() -> None:
    items = [[[1, "x"], None], [[2], [3, None]], None]
    cases = [
        ("[[[Int]]]", [[[1, None], None], [[2], [3, None]], None]),
        ("[[[Int!]]]", [[None, None], [[2], None], None]),
        ("[[[Int!]!]]", [None, None, None]),
        ("[[[Int!]!]!]", None),
    ]
    for type_, expected in cases:
        outcome = answer(
            f"type Query {{ list: {type_} }}",
            "{ list }",
            root=lambda_root(items),
            data={"list": expected},
        )
        bad = "Int cannot represent non-integer value: 'x'"
        assert (bad, ["list", 0, 0, 1]) in [(e.message, e.path) for e in outcome.errors] or (
            expected is None
        )


def test_objects_of_asynchronous_lists_are_completed() -> None:
    class Item:
        def __init__(self, n: int) -> None:
            self.n = n

        async def slow(self, info: Any) -> int:
            if self.n == 1:
                raise RuntimeError("one")
            return self.n

    class Root:
        async def list(self, info: Any) -> AsyncIterator[Any]:
            for n in range(3):
                yield Item(n)

    sdl = "type Query { list: [Item] } type Item { n: Int slow: Int! }"
    errors: Any = [("one", ["list", 1, "slow"])]
    data = {"list": [{"n": 0, "slow": 0}, None, {"n": 2, "slow": 2}]}
    answer(sdl, "{ list { n slow } }", root=Root, data=data, errors=errors)


def test_a_list_that_is_nulled_closes_its_asynchronous_generator() -> None:
    closed = []

    class Root:
        async def list(self, info: Any) -> AsyncIterator[Any]:
            try:
                yield 1
                yield None
                yield 3
            finally:
                closed.append(True)

    answer(
        "type Query { list: [Int!] }",
        "{ list }",
        root=Root,
        data={"list": None},
        errors=[(NULL, ["list", 1])],
    )
    assert closed == [True, True]


def endless(*items: Any) -> Callable[..., Any]:
    """Returns an async generator function. A generator yields these items, then 1 forever. It
    appends to its argument `closed` when it is closed."""

    async def generate(closed: list[bool]) -> AsyncIterator[Any]:
        try:
            for item in items:
                yield item
            while True:
                await asyncio.sleep(0)
                yield 1
        finally:
            closed.append(True)

    return generate


@pytest.mark.parametrize(
    ("type_", "items", "message"),
    [
        ("[Int!]", [1, None], NULL),
        ("[Int!]", [1, ValueError("bad")], "bad"),
        ("[Int!]", ["x"], "Int cannot represent non-integer value: 'x'"),
        ("[[Int!]!]", [[1], [2, None]], NULL),
        ("[[Int!]!]", [[1], (2, "x")], "Int cannot represent non-integer value: 'x'"),
    ],
)
def test_an_item_that_makes_its_list_null_ends_an_asynchronous_generator(
    type_: str, items: list[Any], message: str
) -> None:
    """Without this, the generator would never end."""
    closed: list[bool] = []

    class Root:
        def list(self, info: Any) -> Any:
            return endless(*items)(closed)

    outcome = answer(f"type Query {{ list: {type_} }}", "{ list }", root=Root, data={"list": None})
    assert [error.message for error in outcome.errors] == [message]
    assert closed == [True, True]


def test_a_long_generator_may_raise_after_many_items() -> None:
    for count in (255, 256, 257, 1_000):

        class Root:
            def list(self, info: Any, count: int = count) -> Any:
                return iter(range(count))

            def broken(self, info: Any, count: int = count) -> Any:
                return generated(*range(count), KeyError("broken"))

        answer(
            "type Query { list: [Int] broken: [Int] }",
            "{ list broken }",
            root=Root,
            data={"list": list(range(count)), "broken": None},
            errors=[("'broken'", ["broken"])],
        )

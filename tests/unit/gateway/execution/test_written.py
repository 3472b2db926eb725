"""Compiled code reads leaves, writes the bytes that orjson writes, and leaves unusual values to
Python."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from hypothesis import strategies as st

from gateway.execution.encode import dumps
from tests.generated import given
from tests.unit.gateway.execution.engines import ours
from tests.unit.gateway.execution.leaves import Form, Read

KINDS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "String": (st.text(), lambda v: v),
    "ID": (st.text() | st.integers(), lambda v: str(v)),
    "Int": (st.integers(-(2**31), 2**31 - 1), lambda v: v),
    "Float": (st.floats(allow_nan=False, allow_infinity=False), lambda v: v),
    "Boolean": (st.booleans(), lambda v: v),
    "other": (st.integers() | st.lists(st.text()), lambda v: [v] if v else None),
}
WRONG: dict[str, list[Any]] = {
    "String": [1, True, b"a", type("S", (str,), {})("a")],
    "ID": [1.5, True, b"a"],
    "Int": [2**31, -(2**31) - 1, 2**70, True, 1.0, "1"],
    "Float": [float("nan"), float("inf"), -float("inf"), 1, "1"],
    "Boolean": [1, 0, "true"],
}


def read(kind: str, values: list[Any], *, nonnull: bool = True) -> Read:
    form = Form(["f"], [kind], nonnull=nonnull, shown=KINDS["other"][1])
    return form.read([SimpleNamespace(f=value) for value in values])


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_leaves_are_written_as_orjson_writes_them(kind: str, data: st.DataObject) -> None:
    strategy, shown = KINDS[kind]
    values = data.draw(st.lists(strategy | st.none()))
    found = read(kind, values, nonnull=False)
    assert not found.unusual
    assert found.written() == dumps([{"f": None if v is None else shown(v)} for v in values])


def test_every_character_is_written_as_orjson_writes_it() -> None:
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000 and (code < 0x3000 or code % 0x101 == 0):
            text = f"a{chr(code)}b"
            assert read("String", [text]).written() == orjson.dumps([{"f": text}]), hex(code)


@pytest.mark.parametrize("size", range(40))
def test_texts_of_any_length_are_written_as_orjson_writes_them(size: int) -> None:
    texts = ["x" * size]
    for odd in '"\\\n\x1f!#[]é~\x7f':
        texts += [f"{'x' * i}{odd}{'x' * (size - i - 1)}" for i in range(size)]
    assert read("String", texts).written() == orjson.dumps([{"f": text} for text in texts])


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in WRONG.items() for v in vs])
def test_an_unusual_leaf_is_left_to_python(kind: str, value: Any) -> None:
    usual = {"String": "a", "ID": 1, "Int": 1, "Float": 1.0, "Boolean": True}[kind]
    assert read(kind, [usual, value, usual]).unusual == [(0, 1, value)] or value != value
    assert len(read(kind, [usual, value, usual]).unusual) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "other"])
def test_null_of_a_non_null_leaf_is_left_to_python(kind: str) -> None:
    assert read(kind, [None]).unusual == [(0, 0, None)]


def test_half_of_a_surrogate_pair_is_escaped() -> None:
    assert read("String", ["\ud800"]).written() == b'[{"f":"\\ud800"}]'


class Failing:
    """An object whose attribute is read once, with an error."""

    reads = 0

    @property
    def value(self) -> str:
        self.reads += 1
        raise ValueError(f"read {self.reads} times")


@pytest.mark.parametrize("nonnull", [True, False])
@pytest.mark.parametrize("unusual", [0, 2, 4])
def test_the_exception_of_an_attribute_is_its_value(unusual: int, nonnull: bool) -> None:
    form = Form(["first", "value", "value"], ["String"] * 3, nonnull=nonnull)
    objs: list[Any] = [SimpleNamespace(first=f"f{n}", value=f"v{n}") for n in range(5)]
    failing = Failing()
    failing.first = "f"  # type: ignore[attr-defined]
    objs[unusual] = failing
    found = form.read(objs)
    first, value, last = found.columns()
    assert first == [obj.first for obj in objs]
    assert [v for n, v in enumerate(value) if n != unusual] == [
        obj.value for obj in objs if obj is not failing
    ]
    assert [(number, row, str(error)) for number, row, error in found.unusual] == [
        (1, unusual, "read 1 times"),
        (2, unusual, "read 2 times"),
    ]
    found.more([SimpleNamespace(first="more", value="x")])
    assert [column[5] for column in found.columns()] == ["more", "x", "x"]
    assert last[unusual] is None


def test_objects_of_several_reads_are_written_in_the_order_of_their_rows() -> None:
    found = Form(["n"], ["Int"]).read([SimpleNamespace(n=0)])
    for n in range(1, 40):
        found.more([SimpleNamespace(n=n)])
    rows = [*range(39, -1, -1), None, 7]
    assert orjson.loads(found.written(rows)) == [n if n is None else {"n": n} for n in rows]


@strawberry.type
class Item:
    n: int


@strawberry.type
class One:
    b: bool


@strawberry.type
class Row:
    items: list[Item]
    one: One | None
    last: str

    @strawberry.field
    async def value(self) -> str:
        return self.last


@strawberry.type
class Query:
    rows: list[Row]


SCHEMA = strawberry.Schema(Query)._schema


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@given(drawn=st.lists(st.tuples(st.lists(st.integers(0, 9)), st.none() | st.booleans(), st.text())))
async def test_objects_lists_nulls_and_columns_are_written_in_their_order(
    drawn: list[Any],
) -> None:
    rows = [
        Row(items=[Item(n=n) for n in numbers], one=None if b is None else One(b=b), last=text)
        for numbers, b, text in drawn
    ]
    query = "{ rows { type: __typename items { n } one { b } value last } }"
    outcome = await ours(SCHEMA, query, root=Query(rows=rows))
    assert outcome.data == orjson.dumps(
        {
            "rows": [
                {
                    "type": "Row",
                    "items": [{"n": n} for n in numbers],
                    "one": None if b is None else {"b": b},
                    "value": text,
                    "last": text,
                }
                for numbers, b, text in drawn
            ]
        }
    )


def test_a_list_that_a_property_changes_is_read_unchanged() -> None:
    objects: list[Any] = []

    class Clearing:
        @property
        def f(self) -> str:
            objects.clear()
            return "a"

    objects += [Clearing(), Clearing()]
    found = Form(["f"], ["String"]).read(objects)
    assert found.written() == b'[{"f":"a"},{"f":"a"}]'

"""The compiled writer gives the same bytes as orjson, and refuses unusual values."""

from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.execution.fused.json_writer import JsonWriter
from gateway.execution.run.object_builder import FastPathMiss

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


def writer_of(kind: str, *, nonnull: bool) -> JsonWriter:
    writer = JsonWriter(0)
    writer.key("f")
    writer.attribute("value", kind, nonnull, KINDS["other"][1] if kind == "other" else None)
    writer.end()
    return writer


def write(writer: JsonWriter, columns: list[Any]) -> Any:
    """Write the objects of the first column, whose leaves are read here."""
    leaves = writer.read(columns[0])
    if not leaves.usual:
        raise FastPathMiss
    return writer.write([leaves, *columns[1:]])


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)  # other work on the machine is no fault
@given(data=st.data())
def test_leaves_are_written_as_orjson_writes_them(kind: str, data: st.DataObject) -> None:
    strategy, shown = KINDS[kind]
    values = data.draw(st.lists(strategy | st.none()))
    columns = [[SimpleNamespace(value=value) for value in values]]
    as_dicts = [{"f": None if value is None else shown(value)} for value in values]
    try:
        expected = orjson.dumps(as_dicts)
    except TypeError:  # an integer of more than 64 bits
        with pytest.raises(FastPathMiss):
            write(writer_of(kind, nonnull=False), columns)
    else:
        assert orjson.dumps(write(writer_of(kind, nonnull=False), columns)) == expected


def test_every_character_is_written_as_orjson_writes_it() -> None:
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000 and (code < 0x3000 or code % 0x101 == 0):
            text = f"a{chr(code)}b"
            found = orjson.dumps(
                write(writer_of("String", nonnull=True), [[SimpleNamespace(value=text)]])
            )
            assert found == orjson.dumps([{"f": text}]), hex(code)


@pytest.mark.parametrize("size", range(40))
def test_texts_of_any_length_are_written_as_orjson_writes_them(size: int) -> None:
    texts = ["x" * size]
    for odd in '"\\\n\x1f!#[]é~\x7f':
        texts += [f"{'x' * i}{odd}{'x' * (size - i - 1)}" for i in range(size)]
    columns = [[SimpleNamespace(value=text) for text in texts]]
    assert orjson.dumps(write(writer_of("String", nonnull=True), columns)) == orjson.dumps(
        [{"f": text} for text in texts]
    )


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in WRONG.items() for v in vs])
def test_an_unusual_leaf_ends_the_writing(kind: str, value: Any) -> None:
    with pytest.raises(FastPathMiss):
        write(writer_of(kind, nonnull=True), [[SimpleNamespace(value=value)]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "other"])
def test_null_of_a_non_null_leaf_is_refused(kind: str) -> None:
    with pytest.raises(FastPathMiss):
        write(writer_of(kind, nonnull=True), [[SimpleNamespace(value=None)]])


def test_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(FastPathMiss):
        write(writer_of("String", nonnull=True), [[SimpleNamespace(value="\ud800")]])


class Failing:
    """An object whose attribute is read once, with an error."""

    reads = 0

    @property
    def value(self) -> str:
        self.reads += 1
        raise ValueError(f"read {self.reads} times")


@pytest.mark.parametrize("nonnull", [True, False])
@pytest.mark.parametrize("unusual", [0, 2, 4])
def test_the_exception_of_an_attribute_is_kept_as_its_value(unusual: int, nonnull: bool) -> None:
    writer = JsonWriter(0)
    for name in ("first", "value", "last"):
        writer.key(name)
        writer.attribute(name if name != "last" else "value", "String", nonnull, None)
    writer.end()
    objs: list[Any] = [SimpleNamespace(first=f"f{n}", value=f"v{n}") for n in range(5)]
    failing = Failing()
    failing.first = "f"  # type: ignore[attr-defined]
    objs[unusual] = failing
    leaves = writer.read(objs)
    assert not leaves.usual
    first, value, last = leaves.columns()
    assert first == [obj.first for obj in objs]
    assert [v for n, v in enumerate(value) if n != unusual] == [
        obj.value for obj in objs if obj is not failing
    ]
    assert str(value[unusual]) == "read 1 times"
    assert str(last[unusual]) == "read 2 times"
    more = writer.read([SimpleNamespace(first="more", value="x")], leaves)
    assert more is leaves
    assert [column[5] for column in leaves.columns()] == ["more", "x", "x"]


def test_objects_of_several_reads_are_written_in_the_order_of_their_numbers() -> None:
    one, writer = JsonWriter(2), JsonWriter(0)
    one.key("n")
    one.attribute("n", "Int", True, None)
    one.end()
    writer.key("one")
    writer.one(one, 1)
    writer.end()
    leaves = one.read([SimpleNamespace(n=0)])
    for n in range(1, 40):
        one.read([SimpleNamespace(n=n)], leaves)
    numbers = [*range(39, -1, -1), None, 7]
    found = writer.write([writer.read([None] * len(numbers)), numbers, leaves])
    assert orjson.loads(orjson.dumps(found)) == [
        {"one": None if n is None else {"n": n}} for n in numbers
    ]
    for wrong in (40, -1):
        with pytest.raises(FastPathMiss):
            writer.write([writer.read([None]), [wrong], leaves])


def nested() -> tuple[JsonWriter, JsonWriter, JsonWriter]:
    """With the writers of items and of single objects.

    Of columns 0: objects; 1: how many items each has; 2: items; 3: the numbers of some rows'
    objects, null for the others; 4: these objects; 5: values."""
    item, one, writer = JsonWriter(2), JsonWriter(4), JsonWriter(0)
    item.key("n")
    item.attribute("n", "Int", True, None)
    item.end()
    one.key("b")
    one.attribute("b", "Boolean", True, None)
    one.end()
    writer.key("type")
    writer.constant('T"')
    writer.key("items")
    writer.many(item, 1)
    writer.key("one")
    writer.one(one, 3)
    writer.key("value")
    writer.column(5)
    writer.key("last")
    writer.attribute("last", "String", True, None)
    writer.end()
    return writer, item, one


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(st.integers(0, 9)), st.none() | st.booleans(), st.text())))
def test_objects_lists_nulls_and_columns_are_written_in_their_order(rows: list[Any]) -> None:
    writer, item, single = nested()
    items = [SimpleNamespace(n=n) for numbers, _, _ in rows for n in numbers]
    ones = [SimpleNamespace(b=b) for _, b, _ in rows if b is not None]
    numbers = count()
    columns: list[Any] = [
        writer.read([SimpleNamespace(last=text) for _, _, text in rows]),
        [len(numbers) for numbers, _, _ in rows],
        item.read(items),
        [None if b is None else next(numbers) for _, b, _ in rows],
        single.read(ones),
        [text for _, _, text in rows],
    ]
    assert orjson.dumps(writer.write(columns)) == orjson.dumps(
        [
            {
                "type": 'T"',
                "items": [{"n": n} for n in numbers],
                "one": None if b is None else {"b": b},
                "value": text,
                "last": text,
            }
            for numbers, b, text in rows
        ]
    )


@pytest.mark.parametrize("short", [1, 2, 3, 4, 5])
def test_a_column_that_is_too_short_is_refused(short: int) -> None:
    writer, item, single = nested()
    columns: list[Any] = [
        writer.read([SimpleNamespace(last="a")]),
        [1],
        item.read([SimpleNamespace(n=1)]),
        [0],
        single.read([SimpleNamespace(b=True)]),
        ["a"],
    ]
    assert writer.write(columns)
    columns[short] = (item if short == 2 else single).read([]) if short in (2, 4) else []
    with pytest.raises(FastPathMiss):
        writer.write(columns)
    if short in (2, 4):
        columns[short] = None
        with pytest.raises(FastPathMiss):
            writer.write(columns)


def test_leaves_that_could_not_be_written_are_refused() -> None:
    writer = writer_of("String", nonnull=True)
    leaves = writer.read([SimpleNamespace(value="a"), SimpleNamespace(value=1)])
    with pytest.raises(FastPathMiss):
        writer.write([leaves])


@pytest.mark.parametrize("count", range(6))
def test_missing_columns_are_refused(count: int) -> None:
    writer = nested()[0]
    with pytest.raises(FastPathMiss):
        writer.write([writer.read([SimpleNamespace(last="a")])] * count)


def test_a_list_that_a_property_changes_is_written_unchanged() -> None:
    objects: list[Any] = []

    class Clearing:
        @property
        def value(self) -> str:
            objects.clear()
            return "a"

    objects += [Clearing(), Clearing()]
    found = write(writer_of("String", nonnull=True), [objects])
    assert orjson.dumps(found) == b'[{"f":"a"},{"f":"a"}]'

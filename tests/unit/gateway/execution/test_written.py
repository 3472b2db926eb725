"""Compiled code writes what orjson would, and nothing where a value isn't as usual."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

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


Write: TypeAlias = Callable[[JsonWriter, list[Any]], Any]


def at_once(writer: JsonWriter, columns: list[Any]) -> Any:
    return writer.write(columns)


def ahead(writer: JsonWriter, columns: list[Any]) -> Any:
    """Write the values that can be written before the ones below them are there."""
    return writer.write([writer.ahead(columns[0]), *columns[1:]])


either_way = pytest.mark.parametrize("write", [at_once, ahead])


@either_way
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)  # other work on the machine is no fault
@given(data=st.data())
def test_leaves_are_written_as_orjson_writes_them(
    write: Write, kind: str, data: st.DataObject
) -> None:
    strategy, shown = KINDS[kind]
    values = data.draw(st.lists(strategy | st.none()))
    columns = [[SimpleNamespace(value=value) for value in values]]
    as_dicts = [{"f": None if value is None else shown(value)} for value in values]
    try:
        expected = orjson.dumps(as_dicts)
    except TypeError:  # an integer of more than 64 bits
        with pytest.raises(TypeError):
            orjson.dumps(write(writer_of(kind, nonnull=False), columns))
    else:
        assert orjson.dumps(write(writer_of(kind, nonnull=False), columns)) == expected


@either_way
def test_every_character_is_written_as_orjson_writes_it(write: Write) -> None:
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000 and (code < 0x3000 or code % 0x101 == 0):
            text = f"a{chr(code)}b"
            found = orjson.dumps(
                write(writer_of("String", nonnull=True), [[SimpleNamespace(value=text)]])
            )
            assert found == orjson.dumps([{"f": text}]), hex(code)


@either_way
@pytest.mark.parametrize("size", range(40))
def test_texts_of_any_length_are_written_as_orjson_writes_them(write: Write, size: int) -> None:
    texts = ["x" * size]
    for odd in '"\\\n\x1f!#[]é~\x7f':
        texts += [f"{'x' * i}{odd}{'x' * (size - i - 1)}" for i in range(size)]
    columns = [[SimpleNamespace(value=text) for text in texts]]
    assert orjson.dumps(write(writer_of("String", nonnull=True), columns)) == orjson.dumps(
        [{"f": text} for text in texts]
    )


@either_way
@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in WRONG.items() for v in vs])
def test_what_is_not_as_usual_is_not_written(write: Write, kind: str, value: Any) -> None:
    with pytest.raises(FastPathMiss):
        write(writer_of(kind, nonnull=True), [[SimpleNamespace(value=value)]])


@either_way
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "other"])
def test_null_is_not_written_where_none_may_be(write: Write, kind: str) -> None:
    with pytest.raises(FastPathMiss):
        write(writer_of(kind, nonnull=True), [[SimpleNamespace(value=None)]])


@either_way
def test_half_of_a_surrogate_pair_is_refused(write: Write) -> None:
    with pytest.raises(UnicodeEncodeError):
        write(writer_of("String", nonnull=True), [[SimpleNamespace(value="\ud800")]])


@either_way
def test_what_an_attribute_raises_is_raised(write: Write) -> None:
    with pytest.raises(AttributeError, match="value"):
        write(writer_of("String", nonnull=True), [[object()]])


def nested() -> tuple[JsonWriter, JsonWriter, JsonWriter]:
    """With the writers of items and of single objects.

    Of columns 0: objects; 1: how many items each has; 2: items; 3: objects of some, null for
    the others; 4: those that aren't null; 5: values."""
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
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 9)), st.none() | st.booleans(), st.text())),
    st.sets(st.sampled_from([0, 2, 4])),
)
def test_objects_lists_nulls_and_columns_are_written_in_their_order(
    rows: list[Any], ahead: set[int]
) -> None:
    writer, item, single = nested()
    items = [SimpleNamespace(n=n) for numbers, _, _ in rows for n in numbers]
    ones = [None if b is None else SimpleNamespace(b=b) for _, b, _ in rows]
    columns: list[Any] = [
        [SimpleNamespace(last=text) for _, _, text in rows],
        *([len(numbers) for numbers, _, _ in rows], items),
        *(ones, [one for one in ones if one is not None], [text for _, _, text in rows]),
    ]
    for number, its_form in (0, writer), (2, item), (4, single):
        if number in ahead:
            columns[number] = its_form.ahead(columns[number])
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


@either_way
@pytest.mark.parametrize("short", [2, 3, 4, 5])
def test_a_column_that_is_too_short_is_not_read_past_its_end(write: Write, short: int) -> None:
    writer, item, single = nested()
    own, one = SimpleNamespace(last="a"), SimpleNamespace(b=True)
    columns: list[Any] = [[own], [1], [SimpleNamespace(n=1)], [one], [one], ["a"]]
    assert write(writer, columns)
    columns[short] = []
    with pytest.raises(FastPathMiss):
        write(writer, columns)
    if short in (2, 4):
        columns[short] = (item if short == 2 else single).ahead([])
        with pytest.raises(FastPathMiss):
            write(writer, columns)


@pytest.mark.parametrize("count", range(6))
def test_columns_that_are_not_there_are_not_read(count: int) -> None:
    with pytest.raises(FastPathMiss):
        nested()[0].write([[SimpleNamespace(last="a")]] * count)


@either_way
def test_a_list_that_a_property_changes_meanwhile_is_written_as_it_was(write: Write) -> None:
    objects: list[Any] = []

    class Clearing:
        @property
        def value(self) -> str:
            objects.clear()
            return "a"

    objects += [Clearing(), Clearing()]
    assert (
        orjson.dumps(write(writer_of("String", nonnull=True), [objects]))
        == b'[{"f":"a"},{"f":"a"}]'
    )

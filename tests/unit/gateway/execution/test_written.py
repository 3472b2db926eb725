"""Compiled code writes what orjson would, and nothing where a value isn't as usual."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.execution.written import Form, NotAsUsual

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


def form_of(kind: str, *, nonnull: bool) -> Form:
    form = Form(0)
    form.key("f")
    form.attribute("value", kind, nonnull, KINDS["other"][1] if kind == "other" else None)
    form.end()
    return form


def written(form: Form, columns: list[Any]) -> Any:
    """The text, as orjson takes it over."""
    return orjson.dumps(form.write(columns))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_leaves_are_written_as_orjson_writes_them(kind: str, data: st.DataObject) -> None:
    strategy, shown = KINDS[kind]
    values = data.draw(st.lists(strategy | st.none()))
    columns = [[SimpleNamespace(value=value) for value in values]]
    as_dicts = [{"f": None if value is None else shown(value)} for value in values]
    try:
        expected = orjson.dumps(as_dicts)
    except TypeError:  # an integer of more than 64 bits
        with pytest.raises(TypeError):
            written(form_of(kind, nonnull=False), columns)
    else:
        assert written(form_of(kind, nonnull=False), columns) == expected


def test_every_character_is_written_as_orjson_writes_it() -> None:
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000 and (code < 0x3000 or code % 0x101 == 0):
            text = f"a{chr(code)}b"
            found = written(form_of("String", nonnull=True), [[SimpleNamespace(value=text)]])
            assert found == orjson.dumps([{"f": text}]), hex(code)


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in WRONG.items() for v in vs])
def test_what_is_not_as_usual_is_not_written(kind: str, value: Any) -> None:
    with pytest.raises(NotAsUsual):
        form_of(kind, nonnull=True).write([[SimpleNamespace(value=value)]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "other"])
def test_null_is_not_written_where_none_may_be(kind: str) -> None:
    with pytest.raises(NotAsUsual):
        form_of(kind, nonnull=True).write([[SimpleNamespace(value=None)]])


def test_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        form_of("String", nonnull=True).write([[SimpleNamespace(value="\ud800")]])


def test_what_an_attribute_raises_is_raised() -> None:
    with pytest.raises(AttributeError, match="value"):
        form_of("String", nonnull=True).write([[object()]])


def nested() -> Form:
    """Of columns 0: objects; 1: how many items each has; 2: items; 3: objects of some, null for
    the others; 4: those that aren't null; 5: values."""
    item, one, form = Form(2), Form(4), Form(0)
    item.key("n")
    item.attribute("n", "Int", True, None)
    item.end()
    one.key("b")
    one.attribute("b", "Boolean", True, None)
    one.end()
    form.key("type")
    form.constant('T"')
    form.key("items")
    form.many(item, 1)
    form.key("one")
    form.one(one, 3)
    form.key("value")
    form.column(5)
    form.end()
    return form


@given(st.lists(st.tuples(st.lists(st.integers(0, 9)), st.none() | st.booleans(), st.text())))
def test_objects_lists_nulls_and_columns_are_written_in_their_order(rows: list[Any]) -> None:
    items = [SimpleNamespace(n=n) for numbers, _, _ in rows for n in numbers]
    ones = [None if b is None else SimpleNamespace(b=b) for _, b, _ in rows]
    columns = [
        *([object() for _ in rows], [len(numbers) for numbers, _, _ in rows], items),
        *(ones, [one for one in ones if one is not None], [text for _, _, text in rows]),
    ]
    assert written(nested(), columns) == orjson.dumps(
        [
            {
                "type": 'T"',
                "items": [{"n": n} for n in numbers],
                "one": None if b is None else {"b": b},
                "value": text,
            }
            for numbers, b, text in rows
        ]
    )


@pytest.mark.parametrize("short", [2, 3, 4, 5])
def test_a_column_that_is_too_short_is_not_read_past_its_end(short: int) -> None:
    one = SimpleNamespace(b=True)
    columns: list[list[Any]] = [[object()], [1], [SimpleNamespace(n=1)], [one], [one], ["a"]]
    assert nested().write(columns)
    columns[short] = []
    with pytest.raises(NotAsUsual):
        nested().write(columns)


@pytest.mark.parametrize("count", range(6))
def test_columns_that_are_not_there_are_not_read(count: int) -> None:
    with pytest.raises(NotAsUsual):
        nested().write([[object()]] * count)


def test_a_list_that_a_property_changes_meanwhile_is_written_as_it_was() -> None:
    objects: list[Any] = []

    class Clearing:
        @property
        def value(self) -> str:
            objects.clear()
            return "a"

    objects += [Clearing(), Clearing()]
    assert written(form_of("String", nonnull=True), [objects]) == b'[{"f":"a"},{"f":"a"}]'

"""Tables keep the values of a response by row, and know the path of each."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from graphql import build_schema, parse

from gateway.execution.compile.plan import Plan
from gateway.execution.levels.failures import Failures
from gateway.execution.levels.tables import Order, Table, cut_loose, is_alive, path_of
from gateway.execution.levels.writer import BUILT, json_writer, written
from gateway.execution.side_thread import Aside

SDL = """type Query { boards: [Board] strict: Board! }
  type Board { name: String! pins: [[Pin!]] top: Pin }  type Pin { id: ID title: String! }"""


@pytest.fixture
def root() -> Table:
    """`{ boards { name pins { id title } top { title } } strict { name } }` for two boards: the
    second has the lists of pins [a, b], [] and [c]."""
    text = "{ boards { name pins { id title } top { title } } strict { name } }"
    plan = Plan(build_schema(SDL), parse(text), None, aside=Aside(), fell_back=lambda: None)
    variant = plan._variant({})
    assert variant is not None
    (step,) = variant.steps
    query = Table(step.shape, None)
    query.add(1, (0,))
    boards, strict = query.columns
    items = boards.add_table(Table(boards.slot.columns, boards))  # type: ignore[attr-defined]
    items.add(3, 0)
    boards.values[0] = (0, 3)
    board = _objects(items.columns[0], [0, 2])
    items.columns[0].values[:] = [0, None, 1]
    name, pins, top = board.columns
    name.put(range(2), ['first "one"', "é"])
    lists = pins.add_table(Table(pins.slot.columns, pins))  # type: ignore[attr-defined]
    lists.add(3, 1)
    pins.put([1], [(0, 3)])
    inner = lists.columns[0].add_table(
        Table(pins.slot.item.columns, lists.columns[0])  # type: ignore[attr-defined]
    )
    inner.add(2, 0)
    inner.add(1, 2)
    lists.columns[0].put(range(3), [(0, 2), (2, 2), (2, 3)])
    pin = _objects(inner.columns[0], [0, 1, 2])
    inner.columns[0].put(range(3), range(3))
    pin.columns[0].put(range(3), ["1", None, "3"])
    pin.columns[1].put(range(3), ["a", "b", "c"])
    below = _objects(top, [1])
    top.put([1], [0])
    below.columns[0].put([0], ["t"])
    other = _objects(strict, [0])
    strict.put([0], [0])
    other.columns[0].put([0], ["own"])
    return query


def _objects(column: Any, rows: list[int]) -> Table:
    selection = column.slot.selection(column.slot.type)
    table: Table = column.add_table(Table(selection.shape, column))
    table.add(len(rows), rows)
    return table


PINS = [[{"id": "1", "title": "a"}, {"id": None, "title": "b"}], [], [{"id": "3", "title": "c"}]]
DATA = {
    "boards": [
        {"name": 'first "one"', "pins": None, "top": None},
        None,
        {"name": "é", "pins": PINS, "top": {"title": "t"}},
    ],
    "strict": {"name": "own"},
}


async def _no_rest() -> None:
    return


def _below(table: Table, *columns: int) -> Any:
    """The column that these columns lead to, each in the first table below the one before."""
    column = table.columns[columns[0]]
    for number in columns[1:]:
        assert column.below is not None
        column = column.below[0].columns[number]
    return column


@pytest.mark.anyio
@pytest.mark.parametrize("count", [10, 10_000], ids=["small", "large"])
async def test_tables_are_written_from_the_root(root: Table, count: int) -> None:
    assert b"".join(await written([root], count, _no_rest, [])) == orjson.dumps(DATA)
    cut_loose(root)


def test_a_writer_may_stop_after_any_object(root: Table) -> None:
    if not BUILT:
        return
    for size in range(5):
        writer, parts = json_writer.TableWriter(root), []
        while writer.step(size, 1_000):
            parts.append(writer.take())
        assert b"".join([*parts, writer.take()]) == orjson.dumps(DATA)
        assert len(parts) > 2
    cut_loose(root)


def test_a_writer_may_stop_after_any_field(root: Table) -> None:
    if not BUILT:
        return
    for size in range(1, 60):
        writer, parts = json_writer.TableWriter(root), []
        while writer.step(1_000, size):
            parts.append(writer.take())
        assert b"".join([*parts, writer.take()]) == orjson.dumps(DATA)
        assert max(map(len, parts)) < size + 30
    cut_loose(root)


def test_a_position_has_a_path(root: Table) -> None:
    title = _below(root, 0, 0, 1, 0, 0, 1)
    assert path_of(title, 1) == ["boards", 2, "pins", 0, 1, "title"]
    assert path_of(title, 2) == ["boards", 2, "pins", 2, 0, "title"]
    assert path_of(_below(root, 0, 0, 2, 0), 0) == ["boards", 2, "top", "title"]


NULLED: list[tuple[tuple[int, ...], int, Callable[[Any], Any]]] = [
    ((0, 0, 1, 0, 0, 1), 1, lambda data: data["boards"][2]["pins"].__setitem__(0, None)),
    ((0, 0, 1, 0, 0, 0), 2, lambda data: data["boards"][2]["pins"][2][0].update(id=None)),
    ((0, 0, 0), 0, lambda data: data["boards"].__setitem__(0, None)),
    ((0, 0, 2, 0), 0, lambda data: data["boards"][2].update(top=None)),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("columns", "row", "change"), NULLED)
async def test_a_null_propagates_to_the_nearest_nullable_position(
    columns: tuple[int, ...], row: int, change: Callable[[Any], Any], root: Table
) -> None:
    failures, column = Failures(50), _below(root, *columns)
    failures.add(column, row, ValueError("wrong"))
    failures.add(column, row, ValueError("a second error of the position"))
    failures.write(failures.take())
    data = orjson.loads(orjson.dumps(DATA))
    change(data)
    assert b"".join(await written([root], 10, _no_rest, [])) == orjson.dumps(data)
    assert [error.message for error in failures.errors] == ["wrong"]
    assert not is_alive(column, row)
    assert not failures.root_nulled
    cut_loose(root)


def test_a_null_of_a_non_null_root_field_makes_the_data_null(root: Table) -> None:
    failures = Failures(50)
    failures.add(_below(root, 1, 0), 0, ValueError("wrong"))
    assert failures.write(failures.take())
    assert failures.root_nulled
    cut_loose(root)


def test_failures_are_sorted_in_response_order(root: Table) -> None:
    places = [
        *((_below(root, 0, 0, 0), 0), (_below(root, 0, 0, 1, 0, 0, 1), 0)),
        *((_below(root, 0, 0, 1, 0, 0, 0), 1), (_below(root, 0, 0, 1, 0, 0, 1), 2)),
        *((_below(root, 0, 0, 2, 0), 0), (_below(root, 1, 0), 0)),
    ]
    failures = [(column, row, ValueError()) for column, row in places]
    mixed = failures[::-1]
    mixed.sort(key=Order())
    assert mixed == failures
    cut_loose(root)

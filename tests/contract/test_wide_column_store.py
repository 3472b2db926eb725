"""WideColumnStore's contract over RocksDB and a real HBase."""

import asyncio
import itertools
import random
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

from datasources.errors import StoreUnavailable
from datasources.protocols import Cell, Table, WideColumnStore
from datasources.rocksdb import RocksWideColumns
from tests.contract.wide_columns import NAMES, OPERATIONS, Kit, Model, drop_tables, hbase
from tests.generated import given, settings
from tests.servers import hbase_primary

pytestmark = pytest.mark.anyio
TABLE = Table(f"contract_{uuid.uuid4().hex}")
MODEL = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


class Backend(NamedTuple):
    """A function that opens a store on an empty directory, or on a cluster where TABLE exists."""

    open: Callable[[], WideColumnStore]
    hbase_url: str | None


@pytest.fixture(scope="module", params=["rocksdb", "hbase"])
def backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Backend]:
    if request.param == "rocksdb":
        yield Backend(lambda: RocksWideColumns(tmp_path_factory.mktemp("rocksdb")), None)
        return
    url = hbase_primary(request.getfixturevalue("clusters"))
    yield Backend(lambda: hbase(url), url)
    asyncio.run(drop_tables(url, [TABLE]))


@pytest.fixture
async def store(backend: Backend) -> AsyncIterator[WideColumnStore]:
    store = backend.open()
    await store.create([TABLE])
    yield store
    await store.close()


@pytest.fixture
def kit(store: WideColumnStore) -> Kit:
    return Kit(store, TABLE)


@MODEL
@given(operations=st.lists(OPERATIONS, min_size=3, max_size=20))
async def test_any_sequence_of_calls_shows_what_the_contract_says(
    kit: Kit, operations: list[tuple]
) -> None:
    kit, model, store = kit.fresh(), Model(), kit.store
    base = 0
    for operation in operations:
        match operation:
            case ("put", rows, stamp):
                await store.put(
                    kit.table, {kit.row(row): cells for row, cells in rows.items()}, base + stamp
                )
                for row, cells in rows.items():
                    for column, value in cells.items():
                        model.write(row, column, base + stamp, value)
            case ("delete", rows, stamp):
                await store.delete(
                    kit.table, {kit.row(row): names for row, names in rows.items()}, base + stamp
                )
                for row, names in rows.items():
                    for column in names:
                        model.write(row, column, base + stamp, None)
            case ("trim", row, keep):
                await store.trim(kit.table, kit.row(row), keep)
                model.trim(row, keep)
                base += 10  # trimmed columns may stay hidden from puts with earlier stamps
            case ("read", row, after, limit):
                read = await store.read(kit.table, kit.row(row), after=after, limit=limit)
                assert read == model.visible(row, after or b"")[:limit]
            case ("get", row, names):
                got = await store.get(kit.table, kit.row(row), names)
                assert got == {c.column: c for c in model.visible(row) if c.column in names}
    shown = {row: model.visible(row) for row in sorted(model.rows) if model.visible(row)}
    assert [pair async for pair in kit.scan()] == list(shown.items())


@MODEL
@given(columns=st.sets(NAMES, min_size=1, max_size=20))
async def test_columns_and_values_are_any_bytes_and_paging_can_go_on_after_any(
    kit: Kit, columns: set[bytes]
) -> None:
    kit, store, names = kit.fresh(), kit.store, sorted(columns)
    await store.put(kit.table, {kit.row(): {name: name[::-1] for name in names}}, 7)
    whole = [Cell(name, name[::-1], 7) for name in names]
    assert await store.read(kit.table, kit.row(), limit=len(names)) == whole
    for at, name in enumerate(names):
        page = await store.read(kit.table, kit.row(), after=name, limit=2)
        assert page == whole[at + 1 : at + 3]


@pytest.mark.parametrize("size", [1, 7, 999, 1_000, 1_001, 5_000])
async def test_pages_of_any_size_make_up_the_row(kit: Kit, size: int) -> None:
    names = [b"%06d" % number for number in range(2_500 if size > 1 else 20)]
    await kit.store.put(kit.table, {kit.row(): dict.fromkeys(names, b"")}, 1)
    await kit.store.put(kit.table, {kit.row(b"row\0"): {b"another": b""}}, 1)
    seen: list[bytes] = []
    while True:
        after = seen[-1] if seen else None
        page = await kit.store.read(kit.table, kit.row(), after=after, limit=size)
        assert len(page) == min(size, len(names) - len(seen))
        if not page:
            break
        seen += [cell.column for cell in page]
    assert seen == names


async def test_a_page_may_start_after_a_column_that_is_not_there(kit: Kit) -> None:
    await kit.store.put(kit.table, {kit.row(): {b"b": b"", b"d": b""}}, 1)
    page = await kit.store.read(kit.table, kit.row(), after=b"c", limit=5)
    assert [cell.column for cell in page] == [b"d"]
    assert await kit.store.read(kit.table, kit.row(), after=b"d", limit=5) == []
    assert await kit.store.read(kit.table, kit.row(b"none"), limit=5) == []


WRITES = [("put", 5), ("put", 6), ("delete", 5), ("delete", 6), ("put", 6)]


@pytest.mark.parametrize("order", sorted(set(itertools.permutations(WRITES, 3))))
async def test_stamps_decide_whatever_the_order_of_the_calls(
    kit: Kit, order: tuple[tuple[str, int], ...]
) -> None:
    model = Model()
    for number, (kind, stamp) in enumerate(order):
        value = b"%d" % number if kind == "put" else None
        model.write(b"row", b"c", stamp, value)
        if value is None:
            await kit.store.delete(kit.table, {kit.row(): [b"c"]}, stamp)
        else:
            await kit.store.put(kit.table, {kit.row(): {b"c": value}}, stamp)
    assert await kit.store.read(kit.table, kit.row(), limit=9) == model.visible(b"row")


async def test_one_call_writes_many_rows(kit: Kit) -> None:
    rows = {b"%05d" % number: {b"x": b"%d" % number, b"y": b""} for number in range(3_000)}
    await kit.store.put(kit.table, {kit.row(row): cells for row, cells in rows.items()}, 3)
    await kit.store.delete(kit.table, {kit.row(row): [b"y"] for row in rows}, 3)
    found = {row: cells async for row, cells in kit.scan()}
    assert found == {row: [Cell(b"x", cells[b"x"], 3)] for row, cells in rows.items()}


async def test_a_call_without_rows_or_cells_does_nothing(kit: Kit) -> None:
    await kit.store.put(kit.table, {}, 1)
    await kit.store.put(kit.table, {kit.row(): {}}, 1)
    await kit.store.delete(kit.table, {kit.row(): []}, 1)
    assert await kit.store.get(kit.table, kit.row(), []) == {}
    assert [row async for row in kit.scan()] == []


async def test_only_the_named_columns_are_got(kit: Kit) -> None:
    names = [b"%05d" % number for number in range(2_200)]
    await kit.store.put(kit.table, {kit.row(): {name: name for name in names}}, 2)
    wanted = [*names[::2], b"nowhere", names[0]]
    got = await kit.store.get(kit.table, kit.row(), wanted)
    assert got == {name: Cell(name, name, 2) for name in names[::2]}


@pytest.mark.parametrize("keep", [0, 1, 150, 2_000])
async def test_trim_keeps_the_first_visible_columns(kit: Kit, keep: int) -> None:
    names = [b"%06d" % number for number in range(2_500)]
    for stamp in range(1, 121):
        row = {name: b"" for name in names if int(name) % 120 + 1 == stamp}
        await kit.store.put(kit.table, {kit.row(): row}, stamp)
    await kit.store.put(kit.table, {kit.row(b"row\0"): {b"another": b""}}, 1)
    await kit.store.delete(kit.table, {kit.row(): names[:100]}, 999)
    await kit.store.trim(kit.table, kit.row(), keep)
    assert await kit.columns() == names[100 : 100 + keep]
    assert await kit.columns(b"row\0") == [b"another"]


async def test_a_trimmed_column_comes_back_with_a_higher_stamp(kit: Kit) -> None:
    await kit.store.put(kit.table, {kit.row(): {b"a": b"", b"b": b""}}, 5)
    await kit.store.trim(kit.table, kit.row(), 1)
    await kit.store.trim(kit.table, kit.row(), 1)
    await kit.store.put(kit.table, {kit.row(): {b"b": b"new"}}, 6)
    assert await kit.columns() == [b"a", b"b"]


async def test_a_scan_gives_whole_rows_in_order_from_any_start(kit: Kit) -> None:
    sizes = {b"%04d" % number: 1 + number % 3 for number in range(130)}
    sizes |= {b"0049": 1_500, b"0050": 3_000, b"0129": 1_000}
    rows = {
        kit.row(name): {b"%06d" % column: b"" for column in range(size)}
        for name, size in random.Random(1).sample(sorted(sizes.items()), len(sizes))
    }
    await kit.store.put(kit.table, rows, 4)
    await kit.store.delete(kit.table, {kit.row(b"0007"): list(rows[kit.row(b"0007")])}, 4)
    del sizes[b"0007"]
    for start in (b"", b"0007", b"0049", b"0050", b"00490", b"0129", b"9"):
        found = [(name, len(cells)) async for name, cells in kit.scan(start)]
        assert found == [(name, size) for name, size in sizes.items() if name >= start]


async def test_a_scan_that_is_left_early_harms_nothing(kit: Kit) -> None:
    await kit.store.put(kit.table, {kit.row(b"%03d" % n): {b"x": b""} for n in range(120)}, 1)
    for _ in range(20):
        async for row, _cells in kit.scan():
            if row == b"060":
                break
    assert len([row async for row, _ in kit.scan()]) == 120


async def test_tables_are_apart_and_made_once_however_often_they_are_asked_for(
    kit: Kit, backend: Backend
) -> None:
    tables = [Table(f"{TABLE.name}_{number}_{uuid.uuid4().hex[:8]}") for number in range(2)]
    await asyncio.gather(*(kit.store.create([*tables, tables[0]]) for _ in range(4)))
    try:
        await kit.store.put(tables[0], {b"row": {b"column": b"kept"}}, 1)
        await kit.store.create(tables)
        assert len(await kit.store.read(tables[0], b"row", limit=9)) == 1
        assert await kit.store.read(tables[1], b"row", limit=9) == []
        assert [row async for row, _ in kit.store.scan(tables[0])] == [b"row"]
    finally:
        if backend.hbase_url is not None:
            await drop_tables(backend.hbase_url, tables)


async def test_a_table_that_was_never_made_is_named(kit: Kit) -> None:
    table = Table("never_made")
    with pytest.raises(StoreUnavailable, match="never_made"):
        await kit.store.read(table, b"row", limit=1)
    with pytest.raises(StoreUnavailable, match="never_made"):
        await kit.store.put(table, {b"row": {b"column": b""}}, 1)


@pytest.mark.parametrize("stamp", [0, -1, 2**63])
async def test_a_stamp_out_of_range_is_refused(kit: Kit, stamp: int) -> None:
    with pytest.raises(ValueError, match="stamp"):
        await kit.store.put(kit.table, {kit.row(): {b"c": b""}}, stamp)


async def test_a_row_or_column_without_a_name_is_refused(kit: Kit) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        await kit.store.put(kit.table, {b"": {b"c": b""}}, 1)
    with pytest.raises(ValueError, match="must not be empty"):
        await kit.store.put(kit.table, {kit.row(): {b"": b""}}, 1)
    with pytest.raises(ValueError, match="must not be empty"):
        await kit.store.read(kit.table, b"", limit=1)
    with pytest.raises(ValueError, match="must not be empty"):
        await kit.store.get(kit.table, kit.row(), [b""])


async def test_concurrent_writers_to_one_row_lose_nothing(kit: Kit) -> None:
    stamps = list(range(1, 61))
    random.Random(2).shuffle(stamps)

    async def write(stamp: int) -> None:
        mine = b"%d" % stamp
        await kit.store.put(kit.table, {kit.row(): {b"shared": mine, b"own" + mine: mine}}, stamp)

    await asyncio.gather(*map(write, stamps))
    cells = {cell.column: cell for cell in await kit.store.read(kit.table, kit.row(), limit=99)}
    assert cells.pop(b"shared") == Cell(b"shared", b"60", 60)
    assert sorted(cell.stamp for cell in cells.values()) == sorted(stamps)


async def test_a_closed_store_says_so(kit: Kit) -> None:
    await kit.store.ping()
    await kit.store.close()
    await kit.store.close()
    for call in (
        kit.store.ping(),
        kit.store.read(kit.table, kit.row(), limit=1),
        kit.store.put(kit.table, {kit.row(): {b"c": b""}}, 1),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call

"""RocksDB alone: durability, faults of its directory, and the order of its keys."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import strategies as st

from datasources.errors import StoreCorrupt, StoreUnavailable
from datasources.protocols import Table
from datasources.rocksdb import RocksWideColumns, layout
from tests.generated import given

pytestmark = pytest.mark.anyio
TABLE = Table("feed")

CHILD = """
import asyncio, sys
from datasources.protocols import Table
from datasources.rocksdb import RocksWideColumns

async def main():
    store = RocksWideColumns(sys.argv[1])
    await store.create([Table("feed")])
    print("open", flush=True)
    number = 0
    while True:
        cells = {b"%08d" % number: b"", b"last": b"%d" % number}
        await store.put(Table("feed"), {b"row": cells}, number + 1)
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """A process that writes to the store, a column a line it prints."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def read_lines(child: subprocess.Popen[str], count: int) -> list[str]:
    assert child.stdout is not None
    return [child.stdout.readline().strip() for _ in range(count)]


async def test_every_acknowledged_write_survives_sigkill(tmp_path: Path) -> None:
    acknowledged = 0
    for _ in range(3):
        with writer(tmp_path) as child:
            read_lines(child, 100)
            child.send_signal(signal.SIGKILL)
            assert child.stdout is not None
            rest = child.stdout.read().split()
        acknowledged = max(acknowledged, int(rest[-1]) if rest else 98)
    store = RocksWideColumns(tmp_path)
    columns = [cell.column for cell in await store.read(TABLE, b"row", limit=1_000_000)]
    assert columns[: acknowledged + 1] == [b"%08d" % number for number in range(acknowledged + 1)]
    await store.close()


def test_a_directory_in_use_is_named_with_what_to_do(tmp_path: Path) -> None:
    with writer(tmp_path) as child:
        read_lines(child, 1)
        with pytest.raises(StoreUnavailable, match=rf"{tmp_path} is in use .*stop the other"):
            RocksWideColumns(tmp_path)
        child.kill()


async def test_a_directory_is_free_again_after_close(tmp_path: Path) -> None:
    for _ in range(3):
        store = RocksWideColumns(tmp_path)
        await store.create([TABLE])
        await store.put(TABLE, {b"row": {b"column": b""}}, 1)
        with pytest.raises(StoreUnavailable, match="in use"):
            RocksWideColumns(tmp_path)
        assert len(await store.read(TABLE, b"row", limit=9)) == 1
        await store.close()


async def filled(path: Path) -> None:
    """A closed store with data in files and in the log."""
    for stamp in (1, 2):
        store = RocksWideColumns(path)
        await store.create([TABLE])
        for number in range(50):
            cells = {b"%06d" % column: os.urandom(50) for column in range(50)}
            await store.put(TABLE, {b"%06d" % number: cells}, stamp)
        await store.close()


def names(directory: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in directory.glob(pattern))


def damage(directory: Path, pattern: str, fault: str) -> None:
    for path in directory.glob(pattern):
        data = bytearray(path.read_bytes())
        match fault:
            case "missing":
                path.unlink()
            case "overwritten":
                path.write_bytes(os.urandom(len(data)))
            case "scratched":
                middle = len(data) // 2
                data[middle : middle + 64] = os.urandom(64)
                path.write_bytes(data)


@pytest.mark.parametrize("pattern", ["CURRENT", "MANIFEST-*", "*.sst"])
@pytest.mark.parametrize("fault", ["missing", "overwritten"])
async def test_a_damaged_directory_is_named_and_not_taken_for_an_empty_one(
    tmp_path: Path, pattern: str, fault: str
) -> None:
    await filled(tmp_path)
    damage(tmp_path, pattern, fault)
    before = names(tmp_path, "*.sst")
    with pytest.raises(StoreCorrupt, match=rf"{tmp_path} is damaged .*move it away"):
        RocksWideColumns(tmp_path)
    assert names(tmp_path, "*.sst") == before


async def test_damage_met_while_reading_is_an_error_and_not_a_short_answer(tmp_path: Path) -> None:
    await filled(tmp_path)
    damage(tmp_path, "*.sst", "scratched")
    store = RocksWideColumns(tmp_path)
    with pytest.raises(StoreCorrupt, match="damaged"):
        [row async for row, _ in store.scan(TABLE)]
    await store.close()


def test_a_file_in_the_place_of_the_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="is a file"):
        RocksWideColumns(tmp_path / "file")


async def test_a_synced_store_works_the_same(tmp_path: Path) -> None:
    store = RocksWideColumns(tmp_path / "new" / "feeds", sync=True)
    await store.create([TABLE])
    await store.put(TABLE, {b"row": {b"column": b"value"}}, 1)
    assert [cell.value for cell in await store.read(TABLE, b"row", limit=9)] == [b"value"]
    await store.close()


async def test_a_page_behind_very_many_deleted_columns_is_found(tmp_path: Path) -> None:
    store = RocksWideColumns(tmp_path)
    await store.create([TABLE])
    columns = [b"%06d" % number for number in range(20_000)]
    await store.put(TABLE, {b"row": dict.fromkeys(columns, b"")}, 1)
    await store.delete(TABLE, {b"row": columns[:-1]}, 1)
    assert [cell.column for cell in await store.read(TABLE, b"row", limit=3)] == columns[-1:]
    await store.close()


ROWS = st.binary(min_size=1, max_size=6) | st.lists(
    st.sampled_from([b"\0", b"\x01", b"\x02", b"\xff", b"a"]), min_size=1, max_size=5
).map(b"".join)


@given(ROWS, ROWS, ROWS, ROWS)
def test_keys_sort_like_rows_then_columns_and_split_again(
    row: bytes, column: bytes, other_row: bytes, other_column: bytes
) -> None:
    key, other = (
        layout.cell_key(layout.row_prefix(r), c)
        for r, c in ((row, column), (other_row, other_column))
    )
    assert (key < other) == ((row, column) < (other_row, other_column))
    assert layout.split(key) == (row, column)
    prefix = layout.row_prefix(row)
    assert (prefix <= other < layout.row_end(prefix)) == (other_row == row)
    assert key < layout.successor(key)
    assert not key < other < layout.successor(key)

"""Dual writes over two real stores, one of which can be closed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from datasources.errors import StoreUnavailable
from datasources.protocols import Sides, Table, WideColumnStore
from datasources.rocksdb import RocksWideColumns
from feed_engine.feeds.dual import write_both

pytestmark = pytest.mark.anyio
TABLE = Table("feed")


@pytest.fixture
async def sides(tmp_path: Path) -> AsyncIterator[Sides]:
    sides = Sides(RocksWideColumns(tmp_path / "primary"), RocksWideColumns(tmp_path / "standby"))
    for side in sides:
        await side.create([TABLE])
    yield sides
    for side in sides:
        await side.close()


async def put(store: WideColumnStore) -> None:
    await store.put(TABLE, {b"row": {b"column": b"value"}}, 1)


async def test_a_write_reaches_both_sides(sides: Sides) -> None:
    await write_both(sides, put)
    for side in sides:
        assert [cell.value for cell in await side.read(TABLE, b"row", limit=9)] == [b"value"]


@pytest.mark.parametrize("which", ["primary", "standby"])
async def test_a_write_that_one_side_missed_fails_and_names_it(sides: Sides, which: str) -> None:
    closed: WideColumnStore = getattr(sides, which)
    await closed.close()
    with pytest.raises(StoreUnavailable, match=rf"not written to both sides: {which}: "):
        await write_both(sides, put)
    (other,) = [side for side in sides if side is not closed]
    assert len(await other.read(TABLE, b"row", limit=9)) == 1


async def test_a_mistake_in_the_write_passes_through(sides: Sides) -> None:
    async def wrong(store: WideColumnStore) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await write_both(sides, wrong)

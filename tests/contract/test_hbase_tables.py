"""How tables lie in a real HBase: apart by prefix, and made as feeds need them."""

import asyncio
import uuid

import pytest

from datasources.hbase.thrift import Connection
from datasources.protocols import Cell, Table
from deploy.stack import Stack
from tests.contract.wide_columns import drop_tables, hbase, host_and_port
from tests.servers import hbase_primary

pytestmark = pytest.mark.anyio
NAME = f"tables_{uuid.uuid4().hex}"


async def test_stores_with_prefixes_share_a_cluster_and_nothing_in_it(clusters: Stack) -> None:
    url, table = hbase_primary(clusters), Table("shared")
    prefixes = [f"{NAME}_{side}_" for side in ("left", "right")]
    stores = [hbase(url, prefix=prefix) for prefix in prefixes]
    await asyncio.gather(*(store.create([table]) for store in stores))
    try:
        for store, prefix in zip(stores, prefixes, strict=True):
            mine = dict.fromkeys([b"a", b"b", b"c"], prefix.encode())
            await store.put(table, {b"row": mine, prefix.encode(): mine}, 1)
            await store.delete(table, {b"row": [b"a"]}, 1)
            await store.trim(table, b"row", 1)
        for store, prefix in zip(stores, prefixes, strict=True):
            cell = Cell(b"b", prefix.encode(), 1)
            assert await store.read(table, b"row", limit=9) == [cell]
            assert await store.get(table, b"row", [b"a", b"b"]) == {b"b": cell}
            names = [row async for row, _ in store.scan(table)]
            assert names == sorted([b"row", prefix.encode()])
            await store.close()
    finally:
        await drop_tables(url, [Table(prefix + table.name) for prefix in prefixes])


async def test_a_table_keeps_one_version_of_a_cell_and_its_blocks_in_the_cache(
    clusters: Stack,
) -> None:
    url, table = hbase_primary(clusters), Table(f"{NAME}_made")
    store = hbase(url)
    await store.create([table])
    connection = await Connection.open(*host_and_port(url))
    try:
        families = await connection.call("getColumnDescriptors", tableName=table.name.encode())
        (family,) = families.values()
        made = (family.maxVersions, family.bloomFilterType, family.blockCacheEnabled)
        assert made == (1, b"ROW", True)
    finally:
        connection.abort()
        await drop_tables(url, [table])
        await store.close()

"""Embedded feeds: a wide-column store in a RocksDB directory."""

from datasources.rocksdb.store import RocksWideColumns

__all__ = ["RocksWideColumns"]

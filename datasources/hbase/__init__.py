"""Feeds for large installations: a wide-column store in an HBase cluster, over its Thrift 1
server."""

from datasources.hbase.store import HBaseWideColumns

__all__ = ["HBaseWideColumns"]

"""HBase's filter language, for arbitrary bytes (`org.apache.hadoop.hbase.filter.ParseFilter`)."""


def after(column: bytes) -> bytes:
    """Columns greater than this one, found by a seek."""
    return b"ColumnRangeFilter(%s, false, '', false)" % _quoted(column)


def skip(columns: int, limit: int) -> bytes:
    """The next `limit` columns of a row after its first `columns`."""
    return b"ColumnPaginationFilter(%d, %d)" % (limit, columns)


def _quoted(value: bytes) -> bytes:
    return b"'" + value.replace(b"'", b"''") + b"'"

"""Collects the rows of a table, and writes them as one Parquet file for each partition."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from datasources.parquet.columns import Column, Type

_TYPES = {
    Type.ID: pyarrow.int64(),
    Type.NUMBER: pyarrow.decimal128(38, 0),
    Type.FLAG: pyarrow.bool_(),
    Type.TEXT: pyarrow.string(),
    Type.TIME: pyarrow.timestamp("ms", "UTC"),
    Type.IDS: pyarrow.list_(pyarrow.int64()),
    Type.IMAGE: pyarrow.struct(
        [
            ("url", pyarrow.string()),
            ("width", pyarrow.int64()),
            ("height", pyarrow.int64()),
            ("color", pyarrow.string()),
        ]
    ),
}
_PARTITION = "partition"


class Written(NamedTuple):
    """The rows of a partition as a Parquet file."""

    partition: str | None
    rows: int
    content: bytes


class Partitions:
    """Collects rows in the form of Arrow, which takes about as much memory as their values.
    `metadata` is stored in each file."""

    def __init__(self, columns: Sequence[Column], metadata: Mapping[str, str]) -> None:
        fields = [pyarrow.field(column.name, _TYPES[column.type]) for column in columns]
        self._schema = pyarrow.schema(fields, metadata=dict(metadata))
        self._with_partition = self._schema.append(pyarrow.field(_PARTITION, pyarrow.string()))
        self._batches: list[pyarrow.RecordBatch] = []
        self.bytes = 0

    def add(self, columns: Sequence[Sequence[object]], partitions: Sequence[str | None]) -> None:
        """Add rows: the values of each column, and the partition of each row."""
        arrays = [
            pyarrow.array(values, field.type)
            for values, field in zip((*columns, partitions), self._with_partition, strict=True)
        ]
        batch = pyarrow.RecordBatch.from_arrays(arrays, schema=self._with_partition)
        self._batches.append(batch)
        self.bytes += batch.nbytes

    def take(self) -> Iterator[Written]:
        """Remove all rows and return them by partition, otherwise in their order."""
        table = pyarrow.Table.from_batches(self._batches, self._with_partition)
        self._batches, self.bytes = [], 0
        order = pyarrow.compute.sort_indices(table[_PARTITION])  # a stable sort
        table = table.take(order)
        runs = pyarrow.compute.run_end_encode(table[_PARTITION].combine_chunks())
        table = table.drop_columns([_PARTITION]).replace_schema_metadata(self._schema.metadata)
        start = 0
        for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield Written(name, end - start, _written(table.slice(start, end - start)))
            start = end

    def empty(self) -> Written:
        """A file with the columns and no rows, of the partition of rows without a time."""
        return Written(None, 0, _written(self._schema.empty_table()))


def _written(table: pyarrow.Table) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content

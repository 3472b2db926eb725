"""Tables of rows with sorted columns, which hold the feeds and the pools."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec


class Table(NamedTuple):
    """A wide-column table by name."""

    name: str


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One cell. It is a struct for speed: a page of a feed has a hundred cells."""

    column: bytes
    value: bytes
    stamp: int


class WideColumnStore(Protocol):
    """Rows of sorted columns. Each cell has a stamp: a time or a version, > 0.

    As in HBase, of two puts the put with the higher stamp is visible (with equal stamps, the later
    call). A delete with a stamp hides every put with that stamp or a lower stamp, whether it comes
    before or after. Whether a delete still hides *later* puts after a compaction is not guaranteed.
    The writes of a call to one row are atomic; a call may write many rows.

    Rows and columns are non-empty bytes (a row at most 32,767), and stamps are below 2**63;
    otherwise ValueError is raised. A missing table is StoreUnavailable.
    """

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        """The visible cells with columns greater than `after`, in ascending order."""

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        """The named cells that are visible."""

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        """Write cells row → column → value, all with one stamp."""

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        """Hide the puts to these columns up to a stamp."""

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        """Keep the first `keep` visible columns of the row, and remove the others. A removed column
        may stay hidden from later puts up to its former stamp."""

    def scan(self, table: Table, *, start: bytes = b"") -> AsyncIterator[tuple[bytes, list[Cell]]]:
        """All rows from `start` on, in order, with their visible cells."""

    async def create(self, tables: Sequence[Table]) -> None:
        """Create the tables that do not exist."""

    async def tables(self) -> set[str]:
        """The names of the tables that exist."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class Sides(NamedTuple):
    """The two sides of a feed store. The standby is some hundred milliseconds behind the
    primary."""

    primary: WideColumnStore
    standby: WideColumnStore

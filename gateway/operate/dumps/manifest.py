"""The manifest of a dump: its schema, the moments as of which its parts were read, and its
files."""

import msgspec

from datasources.errors import ConfigError
from datasources.parquet.columns import Column
from datasources.scans import Moment

NAME = "manifest.json"
FORMAT = 1
UNFINISHED, FINISHED = "unfinished", "finished"
_NONE = "__HIVE_DEFAULT_PARTITION__"  # a null, as Hive, Spark and DuckDB write it


class File(msgspec.Struct, frozen=True):
    """A Parquet file. `name` is its path in the dump."""

    name: str
    rows: int
    bytes: int
    sha256: str


class Part(msgspec.Struct, frozen=True):
    """The rows of a table on a shard, as of a moment (an index in `moments`). `faults` counts the
    objects whose JSON can't be read."""

    table: str
    shard: int
    moment: int
    rows: int
    faults: int
    files: list[File]


class Since(msgspec.Struct, frozen=True):
    """The dump that an increment follows. `number`: 0 for a dump of all rows."""

    place: str
    ended: str
    number: int
    schema: int


class Manifest(msgspec.Struct):
    """The state of a dump. Files that no part names belong to no dump. `since`: the dump that an
    increment follows; None for a dump of all rows."""

    format: int
    schema: int
    pinway: str
    state: str
    begun: str  # UTC
    source: str  # the URL of the topology, without passwords
    by: str  # the period of a partition
    tables: dict[str, list[Column]]
    moments: list[Moment] = msgspec.field(default_factory=list)
    parts: list[Part] = msgspec.field(default_factory=list)
    ended: str | None = None
    since: Since | None = None

    @property
    def number(self) -> int:
        """The number of an increment, from 1; 0 for a dump of all rows."""
        return 0 if self.since is None else self.since.number + 1

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def faults(self) -> int:
        return sum(part.faults for part in self.parts)

    @property
    def files(self) -> list[File]:
        return [file for part in self.parts for file in part.files]


def encode(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


def decode(content: bytes, place: str) -> Manifest:
    """The manifest of a dump at a place. Raises ConfigError if it can't be read."""
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"{place}: its {NAME} is not the manifest of a dump ({error}): name another place"
        ) from None
    if manifest.format != FORMAT:
        raise ConfigError(
            f"{place} has a dump of format {manifest.format}, of Pinway {manifest.pinway}: name "
            "another place"
        )
    return manifest


def folder_of(table: str, shard: int, by: str, partition: str | None) -> str:
    """The folder of a partition in Hive's layout, as `pins/shard=3/day=2026-01-31`."""
    return f"{table}/shard={shard}/{by}={partition or _NONE}"

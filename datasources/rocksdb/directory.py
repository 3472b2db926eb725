"""Opens a RocksDB directory, and translates its faults to messages that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocksdict import BlockBasedOptions, Cache, DbClosedError, DBCompressionType, Options, Rdict

from datasources.errors import Damaged, StoreError, StoreUnavailable

_MIB = 1 << 20
_IN_USE = ("lock hold by current process", "While lock file")


def open_directory(path: Path, cache_bytes: int) -> tuple[Rdict, set[str], Options]:
    """The database in `path` (created if missing), its tables' names, and the options for new
    tables."""
    options = new_options(cache_bytes)
    with faults(path):
        if path.exists() and not path.is_dir():
            raise StoreUnavailable(f"{path} is a file: name a directory for the store")
        if (path / "CURRENT").exists():
            names = set(Rdict.list_cf(str(path), options)) - {"default"}
        elif any(path.glob("MANIFEST-*")) or any(path.glob("*.sst")):
            # RocksDB would take this for an empty directory, and delete the remaining files.
            raise _corrupt(path, "the file CURRENT is missing")
        else:
            path.mkdir(parents=True, exist_ok=True)
            names = set()
        return Rdict(str(path), options, dict.fromkeys(names, options)), names, options


def new_options(cache_bytes: int) -> Options:
    """The options of a database and of its tables."""
    blocks = BlockBasedOptions()
    blocks.set_block_cache(Cache(cache_bytes))
    blocks.set_block_size(16 << 10)
    # A put checks whether its column exists; mostly it doesn't. Filters answer this for files, and
    # for data that is still in memory: 2% of its buffer, 16 bits for a cell of 100 bytes.
    blocks.set_bloom_filter(10, False)
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_block_based_table_factory(blocks)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_write_buffer_size(16 * _MIB)
    options.set_memtable_prefix_bloom_ratio(0.02)
    options.set_memtable_whole_key_filtering(True)
    options.set_max_total_wal_size(64 * _MIB)
    options.set_max_open_files(512)
    options.set_keep_log_file_num(2)
    return options


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Translates RocksDB's exceptions to the stores' errors."""
    try:
        yield
    except (StoreError, ValueError):
        raise
    except DbClosedError as error:
        raise StoreUnavailable(f"{path} is closed") from error
    except OSError as error:
        raise StoreUnavailable(f"{path}: {error.strerror or error}") from error
    except Exception as error:
        if type(error) is not Exception:  # rocksdict raises plain Exception only
            raise
        raise _translate(path, str(error)) from error


def _translate(path: Path, message: str) -> StoreError:
    if any(text in message for text in _IN_USE):
        return StoreUnavailable(
            f"{path} is in use by another process, or twice by this one: stop the other, or "
            "choose another directory"
        )
    if "Corruption" in message or "No such file" in message:
        return _corrupt(path, message)
    return StoreUnavailable(f"{path}: {message}")


def _corrupt(path: Path, detail: str) -> Damaged:
    return Damaged(
        f"{path} is damaged ({detail}): move it away, then restore a backup, or a copy of the "
        "other side's directory made while nothing ran on it"
    )

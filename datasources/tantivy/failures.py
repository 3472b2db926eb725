"""Turns the engine's exceptions into the errors of `datasources.errors`."""

from collections.abc import Iterator
from contextlib import contextmanager

from datasources.errors import StoreCorrupt, StoreError, StoreUnavailable

_PASS = (StoreError, KeyboardInterrupt, SystemExit, GeneratorExit)


@contextmanager
def store_errors(doing: str) -> Iterator[None]:
    """Raise StoreUnavailable for an error of the operating system, and StoreCorrupt for all errors
    of the engine: it raises ValueError for files that it can't read, and a panic, which is no
    Exception, for content that it did not expect."""
    try:
        yield
    except _PASS:
        raise
    except OSError as error:
        raise StoreUnavailable(f"{doing} the search index: {error.strerror or error}") from error
    except BaseException as error:
        raise StoreCorrupt(f"{doing} the search index: {error}") from error

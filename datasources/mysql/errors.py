"""Translates MySQL's errors to the stores' errors, by number (the server's from 1000, the client's
from 2000)."""

from aiomysql import Error

from datasources.errors import (
    Exhausted,
    StaleTopology,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
)
from datasources.sql.engine import Contended

_DUPLICATE = {1022, 1062, 1169, 1586}
_CHECKED = {3819, 4025}  # a CHECK that failed: MySQL's number, MariaDB's number
_CONTENDED = {1020, 1205, 1213}  # record changed since it was read, lock wait timeout, deadlock
_TOO_LATE = {1969, 3024}  # the statement's own time limit
_READ_ONLY = {1290, 1792, 1836}
_CORRUPT = {126, 127, 144, 145, 1033, 1034, 1035, 1146, 1194, 1195, 1712, 1932}
# The server closes the connection after these: too many connections, shutdown, packet too large,
# killed.
_LAST_WORDS = {1040, 1053, 1152, 1153, 1156, 1158, 1159, 1160, 1161, 1317, 1927, 4031}


class Lost(StoreUnavailable):
    """The connection broke before the answer."""


def number(error: BaseException) -> int:
    """The number of a driver's error; 0 if it has none."""
    first = error.args[0] if error.args else 0
    return first if isinstance(error, Error) and isinstance(first, int) else 0


def comes_from(error: BaseException, wanted: int) -> bool:
    """Whether a driver's error has this number, or a store error was raised from such an error."""
    return wanted in (number(error), number(error.__cause__ or error))


def answered(error: BaseException) -> bool:
    """Whether the server itself reported the error, and its connection remains usable."""
    said = number(error)
    return (0 < said < 2000 or said >= 3000) and said not in _LAST_WORDS


def translate(error: BaseException, where: str) -> StoreError:
    """The store error for a driver's exception. The message names the place, and has the server's
    text, which has no password."""
    said = number(error)
    text = f"{where}: {error.args[1] if said and len(error.args) > 1 else error}"
    if said in _DUPLICATE:
        return StoreConflict(text)
    if said in _CHECKED:
        return Exhausted(text)
    if said in _CONTENDED:
        return Contended(text)
    if said in _TOO_LATE:
        return StoreTimeout(text)
    if said in _READ_ONLY:
        return StaleTopology(text)
    if said in _CORRUPT:
        return StoreCorrupt(text)
    return StoreUnavailable(text) if answered(error) else Lost(text)

"""Prepared XA transactions of a server: they keep their locks until somebody commits them or rolls
them back, also without a connection and after a restart."""

from collections.abc import Iterable
from typing import Any, NamedTuple

ASK = "XA RECOVER"
"""The statement that asks a server for them. MySQL wants the right XA_RECOVER_ADMIN for it."""


class Prepared(NamedTuple):
    """A prepared transaction: the three parts of its identifier."""

    format: int
    global_part: bytes
    branch: bytes

    def words(self) -> str:
        """The transaction for people, with the statements that end it."""
        name = self.global_part.decode(errors="replace")
        shown = f"{name!r} " if name.isprintable() and name else ""
        xid = f"X'{self.global_part.hex()}',X'{self.branch.hex()}',{self.format}"
        return (
            f"the prepared XA transaction {shown}keeps its locks: end it by XA COMMIT {xid} or "
            f"XA ROLLBACK {xid}, in its session or after the end of its connection"
        )


def decoded(rows: Iterable[tuple[Any, ...]]) -> list[Prepared]:
    """The transactions, from the rows of `ASK`."""
    return [
        Prepared(int(format), data[: int(length)], data[int(length) :])
        for format, length, _, data in rows
    ]

"""Memcached's text protocol over one connection: many commands in one write, and their answers in
order.

It is written here, because the driver emcache 1.3.3 has three faults: it ends an answer at the
first chunk that ends in `END`, even inside a value; it leaves a caller waiting when the server
dies; and it may try a dead server again only after a minute. This code counts lengths, and never
reuses a connection whose answer was not read to its end.

Source: doc/protocol.txt of memcached.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence

from datasources.memcached.items import Item, ProtocolError, read_items

CHUNK = 1 << 16
RUN = b"pinway:run"
"""The key of a random mark, which the first client of a run stores. The process id and the start
would not do: in a container a server that restarts within a second may have the same."""
Connect = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
KEYS_A_LINE = 200


class Connection:
    """An open connection; `run` names the run of the server that it is connected to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._buffer, self._at = b"", 0
        self.run = ""

    @classmethod
    async def open(
        cls, host: str, port: int, connect: Connect = asyncio.open_connection
    ) -> "Connection":
        """Connect, and ask for the server's run. Raises OSError, ProtocolError."""
        connection = cls(*await connect(host, port))
        try:
            mark = secrets.token_hex(8).encode()
            items = await connection.lease({RUN: None}, mark, 0, 0)
            if RUN not in items:
                raise ProtocolError("it stores nothing")
            connection.run = items[RUN].value.decode(errors="replace")
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def lost(self) -> bool:
        """Whether the server has closed the connection, or has sent data that was not requested."""
        return self._reader.at_eof() or self._writer.is_closing() or self._at < len(self._buffer)

    def close(self) -> None:
        self._writer.transport.abort()

    async def gets(self, keys: Sequence[bytes]) -> dict[bytes, Item]:
        """The items that exist."""
        lines = _gets_lines(keys)
        self._writer.write(b"".join(lines))
        return await self._items(len(lines))

    async def lease(
        self, keys: Mapping[bytes, Item | None], value: bytes, flags: int, seconds: int
    ) -> dict[bytes, Item]:
        """Store `value` for each key that has no item, or still has the given item. Returns the
        keys' items. 0 seconds: without an end."""
        size = len(value)
        commands = [
            b"add %b %d %d %d\r\n%b\r\n" % (key, flags, seconds, size, value)
            if item is None
            else b"cas %b %d %d %d %d\r\n%b\r\n" % (key, flags, seconds, size, item.cas, value)
            for key, item in keys.items()
        ]
        lines = _gets_lines([*keys])
        self._writer.write(b"".join([*commands, *lines]))
        await self._done(len(keys), (b"STORED", b"NOT_STORED", b"EXISTS", b"NOT_FOUND"))
        return await self._items(len(lines))

    async def cas(self, values: Sequence[tuple[bytes, int, int, bytes, int]]) -> None:
        """Replace each key's value for a number of seconds, if its cas id is unchanged. `values`:
        tuples of key, cas id, flags, value and seconds."""
        self._writer.write(
            b"".join(
                b"cas %b %d %d %d %d\r\n%b\r\n" % (key, flags, seconds, len(value), cas, value)
                for key, cas, flags, value, seconds in values
            )
        )
        await self._done(len(values), (b"STORED", b"EXISTS", b"NOT_FOUND"))

    async def delete(self, keys: Sequence[bytes]) -> None:
        self._writer.write(b"".join(b"delete %b\r\n" % key for key in keys))
        await self._done(len(keys), (b"DELETED", b"NOT_FOUND"), may_refuse=False)

    async def _items(self, answers: int) -> dict[bytes, Item]:
        items: dict[bytes, Item] = {}
        while True:
            self._at, answers = read_items(self._buffer, self._at, items, answers)
            if not answers:
                return items
            await self._more()

    async def _done(self, count: int, good: Sequence[bytes], *, may_refuse: bool = True) -> None:
        """Read `count` one-line answers. The server may refuse a value because of its size or for
        lack of memory; that is no error."""
        for _ in range(count):
            line = await self._line()
            if line not in good and not (may_refuse and line.startswith(b"SERVER_ERROR")):
                raise ProtocolError(line.decode(errors="replace"))

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n", self._at)) < 0:
            await self._more()
        line = self._buffer[self._at : end]
        self._at = end + 2
        return line

    async def _more(self) -> None:
        data = await self._reader.read(CHUNK)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        self._buffer, self._at = self._buffer[self._at :] + data, 0


def _gets_lines(keys: Sequence[bytes]) -> list[bytes]:
    return [
        b"gets %b\r\n" % b" ".join(keys[at : at + KEYS_A_LINE])
        for at in range(0, len(keys), KEYS_A_LINE)
    ]

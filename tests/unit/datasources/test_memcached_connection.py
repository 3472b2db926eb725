"""Answers of memcached that arrive in pieces of any size."""

import asyncio
from typing import cast

import pytest

from datasources.memcached.connection import Connection, Item, ProtocolError

pytestmark = pytest.mark.anyio
VALUES = {b"a": b"", b"b": b"VALUE c 0 3 9\r\nEND\r\n", b"c": b"\r\n" * 40, b"d": b"x" * 500}
ANSWER = (
    b"".join(b"VALUE %b 1 %d 7\r\n%b\r\n" % (k, len(v), v) for k, v in VALUES.items()) + b"END\r\n"
)


class Writer:
    """Takes requests and sends them nowhere."""

    def write(self, data: bytes) -> None:
        pass

    def is_closing(self) -> bool:
        return False


def answered(*pieces: bytes) -> Connection:
    """A connection on which these pieces arrive one after the other."""
    reader, loop = asyncio.StreamReader(), asyncio.get_running_loop()

    def feed(number: int) -> None:
        if number < len(pieces):
            reader.feed_data(pieces[number])
            loop.call_soon(feed, number + 1)

    loop.call_soon(feed, 0)
    return Connection(reader, cast(asyncio.StreamWriter, Writer()))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, len(ANSWER)])
async def test_items_are_the_same_in_pieces_of_any_size(size: int) -> None:
    pieces = [ANSWER[at : at + size] for at in range(0, len(ANSWER), size)]
    connection = answered(*pieces)
    found = await connection.gets(list(VALUES))
    assert found == {key: Item(1, 7, value) for key, value in VALUES.items()}
    assert not connection.lost


async def test_bytes_after_the_answer_belong_to_no_call() -> None:
    connection = answered(ANSWER + b"VALUE")
    assert len(await connection.gets(list(VALUES))) == len(VALUES)
    assert connection.lost


@pytest.mark.parametrize("line", [b"VALUE a 1", b"ERROR", b"STORED"])
async def test_a_line_that_is_no_item_is_named(line: bytes) -> None:
    with pytest.raises(ProtocolError, match=line.decode()):
        await answered(line + b"\r\n").gets([b"a"])

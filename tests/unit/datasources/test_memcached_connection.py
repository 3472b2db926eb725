"""Answers of memcached that arrive in pieces of any size."""

import asyncio
import re
from random import Random
from typing import Any, cast

import pytest

from datasources.memcached import items
from datasources.memcached.connection import Connection
from datasources.memcached.items import Item, ProtocolError
from tests.scale import seeds
from tests.unit.datasources.sources import python_source

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


READERS = [items, python_source("datasources.memcached.items")]


def answer_of(rng: Random) -> bytes:
    """Items of any bytes, in one or two answers."""
    lines = []
    for _ in range(rng.randrange(1, 3)):
        for number in range(rng.randrange(4)):
            value = rng.choice([b"", b"END\r\n", b"\r\n" * 3, rng.randbytes(rng.randrange(300))])
            cas = rng.randrange(rng.choice([10, 10**6, 2**64]))
            lines.append(b"VALUE k%d %d %d %d\r\n" % (number, rng.randrange(9), len(value), cas))
            lines.append(value + b"\r\n")
        lines.append(b"END\r\n")
    return b"".join(lines)


def read_in_pieces(module: Any, data: bytes, rng: Random) -> Any:
    """The items, the place after them and the open answers; or the error's text."""
    found: dict[bytes, Any] = {}
    at, answers, end = 0, data.count(b"END\r\n"), 0
    try:
        while end < len(data):
            end += rng.randrange(1, 100)
            at, answers = module.read_items(data[:end], at, found, answers)
    except module.ProtocolError as error:
        return str(error)
    return at, answers, {k: (it.flags, it.cas, it.value) for k, it in found.items()}


def test_broken_answers_are_read_alike_in_pieces_of_any_size() -> None:
    errors = 0
    for seed in seeds(500, 50_000):
        rng = Random(seed)
        data = bytearray(answer_of(rng))
        for _ in range(rng.randrange(3)):
            data[rng.randrange(len(data))] = rng.choice(b" 019-+_xEV\r\n\x00\xff")
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        whole = [read_in_pieces(module, bytes(data), Random(1)) for module in READERS]
        cut = [read_in_pieces(module, bytes(data), rng) for module in READERS]
        assert whole == [whole[0]] * 2 == cut, seed
        errors += isinstance(cut[0], str)
    assert errors > 75


@pytest.mark.parametrize(
    "line",
    [
        *(b"VALUE a 1", b"ERROR", b"STORED", b"", b"VALUE", b"END ", b"E"),
        *(b"VALUE a 0 -9 7", b"VALUE a 0 +9 7", b"VALUE a x 9 7", b"VALUE a 0 9 7 7"),
        *(
            b"VALUE a 0 9 7_0",
            b"VALUE a 0 1000000000000000000 7",
            b"VALUE a 0 9 ",
            b"value a 0 1 7",
        ),
    ],
)
def test_a_line_that_is_no_item_is_named(line: bytes) -> None:
    with pytest.raises(ProtocolError, match=f"^{re.escape(line.decode())}$"):
        items.read_items(line + b"\r\n", 0, {}, 1)

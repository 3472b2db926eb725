"""Attacks by texts that a server keeps, writes down or answers with: names, headers, addresses; and
by answers that are compressed."""

from __future__ import annotations

import gzip
from urllib.parse import quote

from bench.abuse.attacks.attacker import Attack, Attacker, flood, several
from bench.abuse.attacks.wire import get, post
from bench.abuse.site import Facts

LONG = 190_000
"""Characters of a name that still fits into a document."""
SCHEMA = (
    "{ __schema { types { name description fields { name description args { name description } } "
    "enumValues { name description } } } }"
)
LIST = "users(first: 100) { edges { node { id fullName about username } } }"
HASH = {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
STATE = ",".join(f"v{number}={'x' * 200}" for number in range(100))


def _named(name: str) -> bytes:
    return post({"query": f"query {name} {{ __typename }}"})


def _long_names(facts: Facts, number: int) -> bytes:
    return _named(f"L{number % 40:02}{'x' * LONG}")


def _one_long_name(facts: Facts, number: int) -> bytes:
    return _named("L" + "x" * LONG)


def _many_names(facts: Facts, number: int) -> bytes:
    return _named(f"Name{number}")


def _first_names(facts: Facts, number: int) -> bytes:
    return _named(f"First{number % 400}{'x' * 80}")


def _client_names(facts: Facts, number: int) -> bytes:
    names = ("apollographql-client-name", "apollographql-client-version", "user-agent")
    sent = dict.fromkeys(names, f"{number}" + "n" * 9_000)
    return post({"query": "query Home { __typename }"}, sent)


def _trace_states(facts: Facts, number: int) -> bytes:
    sent = {"traceparent": TRACE, "tracestate": STATE, "x-request-id": "r" * 128}
    return post({"query": "query Home { __typename }"}, sent)


def _traces(facts: Facts, number: int) -> bytes:
    return post({"query": f"{{ {LIST} }}"}, {"x-pinway-trace": "1"})


def _hosts(facts: Facts, number: int) -> bytes:
    hosts = (b"", b"host: a\r\nhost: b\r\n", b"host: a b\r\n", b"host: " + b"h" * 9_000 + b"\r\n")
    body = b'{"query":"{ __typename }"}'
    head = b"POST /graphql HTTP/1.1\r\n%bcontent-type: application/json\r\n" % hosts[number % 4]
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


def _unknown_pages(facts: Facts, number: int) -> bytes:
    return get("", "accept: text/html\r\n", target=f"/{number}/{'p' * 9_000}")


def _redirects(facts: Facts, number: int) -> bytes:
    return get("", target=f"/graphql/?q={quote('<' * 3_000)}{number}")


def _compressed(facts: Facts, number: int) -> bytes:
    query = SCHEMA if number % 2 else f"{{ {' '.join(f'a{n}: {LIST}' for n in range(10))} }}"
    return post({"query": query}, {"accept-encoding": "gzip"})


def _compressed_files(facts: Facts, number: int) -> bytes:
    target = ("/graphql", "/", "/statusz", "/graphiql/NOTICES.txt")[number % 4]
    lines = "accept: text/html\r\naccept-encoding: gzip\r\n"
    return get("", lines, target=target).replace(b"accept: application/json\r\n", b"", 1)


def _codings(facts: Facts, number: int) -> bytes:
    codings = ",".join(f"c{number}{n};q=0.{n}" for n in range(2_000))
    return post({"query": SCHEMA}, {"accept-encoding": codings[:30_000]})


def _coded_bodies(facts: Facts, number: int) -> bytes:
    coding = ("gzip", "br", "x" * 9_000)[number % 3]
    return post(gzip.compress(b'{"query":"{ __typename }"}'), {"content-encoding": coding})


def _hashes(facts: Facts, number: int) -> bytes:
    return post({"extensions": HASH, "variables": {"n": number}})


def _heads(facts: Facts, number: int) -> bytes:
    return get(f"{{ a{number}: {LIST} }}", method="HEAD")


def _absent_ids(facts: Facts, number: int) -> bytes:
    first = int(facts.boards[0]) + 1_000_000 + 100 * number
    ids = [str(first + n) for n in range(100)]
    return post(
        {"query": "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", "variables": {"ids": ids}}
    )


async def _scrapes_beside_names(attacker: Attacker) -> None:
    """Fill the metrics with names, and let an operator's server read them all the time."""

    async def scrape() -> None:
        while attacker.going:
            connection = await attacker.open()
            if connection is None:
                continue
            for target in ("/metrics", "/statusz.json"):
                status, _ = await connection.ask(get("", target=target))
                attacker.answers[f"{target} {status}"] += 1
            connection.close()

    await several([scrape(), scrape(), attacker.flood(_first_names, 16)])


ATTACKS: list[Attack] = [
    flood("operation names of 190 kB", _long_names, 8, anywhere=True),
    flood("one operation name of 190 kB", _one_long_name, 8, anywhere=True),
    flood("thousands of operation names", _many_names, anywhere=True),
    Attack("scrapes beside many operation names", _scrapes_beside_names),
    flood("names of clients of 9 kB", _client_names, anywhere=True),
    flood("trace states of 20 kB", _trace_states, anywhere=True),
    flood("traces of strangers", _traces),
    flood("hosts that are none", _hosts, anywhere=True, keep=False),
    flood("unknown addresses of 9 kB", _unknown_pages),
    flood("redirects of 9 kB", _redirects),
    flood("compressed answers", _compressed),
    flood("compressed files", _compressed_files, 64),
    flood("thousands of codings", _codings, anywhere=True),
    flood("bodies in other codings", _coded_bodies, anywhere=True),
    flood("hashes of documents", _hashes, anywhere=True),
    flood("HEAD of large lists", _heads),
    flood("absent ids", _absent_ids),
]

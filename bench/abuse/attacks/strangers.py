"""Attacks that mix what other modules send one kind at a time: errors beside nulls and pages, GET
with compressed answers, other hosts, forged cursors, and parts of requests."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, Attacker, flood
from bench.abuse.attacks.errors import failing, mixed
from bench.abuse.attacks.wire import HOST, get, post
from bench.abuse.site import Facts
from gateway.http.auth import Tokens

GZIP = "accept-encoding: gzip\r\n"
WRONG = "followers(first: 0) { pageInfo { hasNextPage } }"
FEEDS = ("homeFeed", "followingFeed", "pins", "users", "boards")
TYPES = "{ __schema { types { fields { type { FIELDS } } } } }"


def _signed(facts: Facts, content: object, headers: dict[str, str] | None = None) -> bytes:
    return post(content, {"authorization": f"Bearer {facts.stranger}", **(headers or {})})


def _numbered(count: int, field: str) -> str:
    return " ".join(f"a{number}: {field}" for number in range(count))


def _wrapped(facts: Facts, number: int) -> bytes:
    fields = _numbered(30, "isOneOf") + " ofType { isOneOf ofType { isOneOf } }"
    return post({"query": TYPES.replace("FIELDS", fields)})


def _refused_writes(facts: Facts, number: int) -> bytes:
    fields = _numbered(30, 'createPin(input: {boardId: "1"}) { pin { id } errors { code } }')
    return post({"query": f"{'#' * 999}\nmutation {{ {fields} }}"})


def _half_refused_writes(facts: Facts, number: int) -> bytes:
    """Writes of a viewer on absent, foreign and own objects."""
    boards = (facts.secret_board, facts.boards[0], "1", facts.own_boards[0])
    fields = " ".join(
        f'a{n}: createPin(input: {{boardId: "{boards[n % 4]}"}}) '
        f"{{ pin {{ id x: {WRONG.replace('followers', 'comments')} }} errors {{ code }} }}"
        for n in range(12)
    )
    return _signed(facts, {"query": f"mutation {{ {fields} }}"})


def _spread_errors(facts: Facts, number: int) -> bytes:
    """Errors at many locations: each fragment selects them again."""
    fragments = " ".join(
        f"fragment F{n} on User {{ ...F{n + 1} {_numbered(8, WRONG)} }}" for n in range(9)
    )
    last = f"fragment F9 on User {{ id {WRONG} }}"
    query = f"{{ users(first: 100) {{ edges {{ node {{ ...F0 }} }} }} }} {fragments} {last}"
    return post({"query": query})


def _nested_errors(facts: Facts, number: int) -> bytes:
    inner = f"followers(first: 20) {{ edges {{ node {{ {_numbered(4, WRONG)} }} }} }}"
    return post({"query": f"{{ users(first: 20) {{ edges {{ node {{ {inner} }} }} }} }}"})


def _error_by_variable(facts: Facts, number: int) -> bytes:
    fields = _numbered(40, "followers(first: $f) { pageInfo { hasNextPage } }")
    query = f"query ($f: Int) {{ users(first: 100) {{ edges {{ node {{ {fields} }} }} }} }}"
    return post({"query": query, "variables": {"f": -number}})


def _wrong_variables(facts: Facts, number: int) -> bytes:
    """One error for each value of a list, and each with a long text."""
    values = [{"a": f"{number} {'v' * 300}"}] * 2_500
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    return post({"query": query, "variables": {"ids": values}})


def _unknown_fields(facts: Facts, number: int) -> bytes:
    given = {f"field{number}{n}": n for n in range(5_000)}
    query = "mutation ($i: CreatePinInput!) { createPin(input: $i) { pin { id } } }"
    return post({"query": query, "variables": {"i": given}})


def _got_compressed(query: Callable[[int], str]) -> Callable[[Facts, int], bytes]:
    return lambda facts, number: get(query(number), GZIP)


def _page(number: int) -> str:
    return f"{{ a{number}: users(first: 100) {{ edges {{ node {{ id fullName about }} }} }} }}"


def _weights(facts: Facts, number: int) -> bytes:
    """A new Accept-Encoding each time, so that nothing of it is remembered."""
    return get(
        _page(0), f"accept-encoding: gzip;q=0.{number:09d}1, identity;q=0, *;q=1e-{number}\r\n"
    )


def _other_hosts(facts: Facts, number: int) -> bytes:
    hosts = (f"h{number}.example", f"[2001:db8::{number % 65_536:x}]:0", f"{'x' * 250}.", "")
    return post({"query": "{ __typename }"}).replace(
        HOST, f"host: {hosts[number % 4]}\r\n".encode(), 1
    )


def _absolute(facts: Facts, number: int) -> bytes:
    target = f"http://{number}.example:{number % 65_536}/graphql"
    return post({"query": "{ __typename }"}, target=target)


def _forged(facts: Facts, number: int) -> bytes:
    """Cursors of the right length that nobody has made."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    fields = " ".join(
        f'a{n}: {FEEDS[n % 5]}(first: 1, after: "{"".join(random.choices(letters, k=50))}") '
        "{ edges { cursor } }"
        for n in range(30)
    )
    return _signed(facts, {"query": f"{{ {fields} }}"})


def _foreign(facts: Facts, number: int) -> bytes:
    """A true cursor of one list in all other lists."""
    fields = " ".join(
        f"a{n}: {FEEDS[n % 5]}(first: 50, after: $c) {{ edges {{ cursor node {{ id }} }} }}"
        for n in range(20)
    )
    query = f"query ($c: String) {{ {fields} }}"
    return _signed(facts, {"query": query, "variables": {"c": facts.cursor}})


def _visits_and_cursors(facts: Facts, number: int) -> bytes:
    """Visits with names at the bound, beyond it, and of control characters."""
    names = (f"{number:064d}", f"{number:065d}", f"{number}\n\x1b[31m", "")
    fields = " ".join(f"a{n}: homeFeed(first: 1, visit: $v{n}) {{ visitId }}" for n in range(4))
    variables = {f"v{n}": name for n, name in enumerate(names)}
    query = f"query ($v0: ID, $v1: ID, $v2: ID, $v3: ID) {{ {fields} }}"
    return _signed(facts, {"query": query, "variables": variables})


def _escapes(facts: Facts, number: int) -> bytes:
    """Texts for the log, the traces and the metrics: newlines, quotes and JSON."""
    name = f'{number}\n2026-01-01 [error] "}}{{\\ \x1b[2J'
    headers = {"apollographql-client-name": f'x"}} {number}\\', "user-agent": '{"a":"' * 300}
    return post({"query": "query A { __typename }", "operationName": name}, headers)


def _hidden_text(facts: Facts, number: int) -> bytes:
    """Names of characters that nobody sees, at the bound of their length."""
    hidden = ("\u3164", "\U000e0041", "\ufe0f", "\u034f", "\u2800", "\u200d")[number % 6] * 179
    query = "mutation ($n: String!) { createBoard(input: {name: $n}) { errors { code } } }"
    return _signed(facts, {"query": query, "variables": {"n": f"{hidden} "}})


def _extensions(facts: Facts, number: int) -> bytes:
    wrong: tuple[object, ...] = (
        1,
        [],
        "x" * 9_000,
        {"persistedQuery": []},
        {"persistedQuery": {"sha256Hash": {}}},
    )
    return post({"query": "{ __typename }", "extensions": wrong[number % 5]})


async def _halves(attacker: Attacker) -> None:
    """Send all of a request but its last byte, and leave before the answer to the next."""
    whole = post({"query": _page(1)}, {"accept-encoding": "gzip"})
    while attacker.going:
        connection = await attacker.open()
        if connection is None:
            continue
        connection.writer.write(whole + whole[:-1])
        await attacker.wait(0.001)
        attacker.answers["left"] += 1
        connection.close()


async def _mixture(attacker: Attacker) -> None:
    """Every kind of request of this module, in turn, beside false tokens of ten viewers."""
    issue = Tokens("x" * 32, 1).issue
    false = [issue(int(user)) for user in attacker.facts.users[:10]]
    kinds = (_nested_errors, _got_compressed(_page), _forged, _wrong_variables, _other_hosts)

    def request(facts: Facts, number: int) -> bytes:
        if number % 6 == 5:
            headers = {"authorization": f"Bearer {false[number % 10]}"}
            return post({"query": _page(number)}, headers)
        return kinds[number % 6](facts, number)

    await attacker.flood(request, 32)


def _errors_got(number: int) -> str:
    return f"{failing(20, 500)} #{number}"


ATTACKS: list[Attack] = [
    flood("strangers: isOneOf of every type", _wrapped),
    flood("strangers: refused writes", _refused_writes),
    flood("strangers: writes, half of them refused", _half_refused_writes),
    flood("strangers: errors through nested fragments", _spread_errors),
    flood("strangers: errors in nested lists", _nested_errors),
    flood("strangers: errors through a variable", _error_by_variable),
    flood("strangers: wrong values of a variable", _wrong_variables),
    flood("strangers: unknown fields of an input", _unknown_fields),
    flood("strangers: compressed pages by GET", _got_compressed(_page)),
    flood("strangers: compressed errors by GET", _got_compressed(_errors_got)),
    flood("strangers: compressed mixtures by GET", _got_compressed(lambda n: mixed(20))),
    flood("strangers: new weights of codings", _weights),
    flood("strangers: other hosts", _other_hosts),
    flood("strangers: absolute targets", _absolute),
    flood("strangers: forged cursors", _forged),
    flood("strangers: cursors of other lists", _foreign),
    flood("strangers: names of visits", _visits_and_cursors),
    flood("strangers: escapes for the log", _escapes, anywhere=True),
    flood("strangers: names that nobody sees", _hidden_text),
    flood("strangers: extensions of wrong types", _extensions, anywhere=True),
    Attack("strangers: requests without their last byte", _halves),
    Attack("strangers: a mixture", _mixture),
]

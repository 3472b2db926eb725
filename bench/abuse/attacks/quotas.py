"""Attacks by one account that writes without end: on rows of others, with its own ids, and beside
its own quota."""

from __future__ import annotations

from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.attacks.writes import _of, _signed, _turned, _writes
from bench.abuse.site import Facts

AT_ONCE = 20
"""Feeds in one request."""
TEXT = "long " * 399


def _visits(name: Callable[[int], str]) -> Callable[[Facts, int], bytes]:
    """Requests of home feeds, each of a visit that the client names."""

    def request(facts: Facts, number: int) -> bytes:
        feeds = " ".join(
            f'a{n}: homeFeed(first: 1, visit: "{name(number * AT_ONCE + n)}") {{ visitId }}'
            for n in range(AT_ONCE)
        )
        return _signed(facts, {"query": f"{{ {feeds} }}"})

    return request


def _keyed(facts: Facts, number: int) -> bytes:
    """Comments with keys, each of which leaves another row for its key."""
    pin = _of(facts.pins, number)
    query = (
        "mutation ($i: CreateCommentInput!) { createComment(input: $i) "
        "{ comment { id } errors { code retryAfter } } }"
    )
    given = {"pinId": pin, "text": TEXT, "idempotencyKey": f"quota {number}"}
    return _signed(facts, {"query": query, "variables": {"i": given}})


ATTACKS: list[Attack] = [
    flood(
        "comments under all pins of a victim",
        _writes(
            "createComment", lambda f, n: {"pinId": _of(f.viewers[0]["pins"], n), "text": TEXT}
        ),
    ),
    flood(
        "comments under every pin",
        _writes("createComment", lambda f, n: {"pinId": _of(f.pins, n), "text": TEXT}),
    ),
    flood("comments with keys", _keyed),
    flood("visits with ids of the client", _visits(lambda n: f"visit {n} {'x' * 40}")),
    flood("the same visits again and again", _visits(lambda n: f"visit {n % 400}")),
    flood(
        "follows and unfollows of one victim",
        _turned("followUser", "unfollowUser", lambda f, n: {"userId": f.viewers[0]["id"]}),
    ),
    flood(
        "likes and unlikes of a victim's pins",
        _turned("likePin", "unlikePin", lambda f, n: {"pinId": _of(f.viewers[0]["pins"], n)}),
    ),
    flood(
        "repins of a victim's pins",
        _writes(
            "repin",
            lambda f, n: {"pinId": _of(f.viewers[0]["pins"], n), "boardId": f.own_boards[0]},
        ),
    ),
    flood(
        "follows that change nothing, with keys",
        _writes("followUser", lambda f, n: {"userId": f.users[0], "idempotencyKey": f"same {n}"}),
    ),
    flood("boards without end", _writes("createBoard", lambda f, n: {"name": f"board {n}"})),
]

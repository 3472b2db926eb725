"""Attacks by a signed-in attacker: endless writes, each with background work."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.attacks.wire import post
from bench.abuse.site import Facts

AT_ONCE = 20
"""Writes in one request."""

Input = Callable[[Facts, int], dict[str, object]]


def _signed(facts: Facts, content: object) -> bytes:
    return post(content, {"authorization": f"Bearer {facts.stranger}"})


def _writes(field: str, given: Input) -> Callable[[Facts, int], bytes]:
    """Requests of many writes of one kind; each write has a different number."""
    name = field[0].upper() + field[1:]
    name = name.replace("UnlikePin", "LikePin").replace("UnfollowUser", "FollowUser")
    declared = ", ".join(f"$i{n}: {name}Input!" for n in range(AT_ONCE))
    fields = " ".join(
        f"a{n}: {field}(input: $i{n}) {{ errors {{ code }} }}" for n in range(AT_ONCE)
    )
    query = f"mutation ({declared}) {{ {fields} }}"

    def request(facts: Facts, number: int) -> bytes:
        inputs = {f"i{n}": given(facts, number * AT_ONCE + n) for n in range(AT_ONCE)}
        return _signed(facts, {"query": query, "variables": inputs})

    return request


def _of(rows: list[str], number: int) -> str:
    return rows[number % len(rows)]


def _turned(one: str, other: str, given: Input) -> Callable[[Facts, int], bytes]:
    """Alternating requests of two kinds, which undo each other."""
    both = _writes(one, given), _writes(other, given)
    return lambda facts, number: both[number % 2](facts, number // 2)


def _conflicting(facts: Facts, number: int) -> dict[str, object]:
    return {"name": f"board {number}", "idempotencyKey": "one key for all of these"}


def _many_pins(facts: Facts, number: int) -> bytes:
    ids = [str(1 << 36 | number * 9_000 + n) for n in range(9_000)]
    query = "mutation ($i: ReorderPinsInput!) { reorderPins(input: $i) { errors { code } } }"
    return _signed(
        facts, {"query": query, "variables": {"i": {"boardId": facts.own_boards[0], "pinIds": ids}}}
    )


def _waiting_feeds(facts: Facts, number: int) -> bytes:
    """Home feeds that wait for a write of the attacker that has already happened."""
    token = json.dumps(facts.feed_token)
    feeds = " ".join(
        f"a{n}: homeFeed(first: {n + 1}, seen: {token}) {{ visitId }}" for n in range(20)
    )
    return _signed(facts, {"query": f"{{ {feeds} }}"})


ATTACKS: list[Attack] = [
    flood(
        "pins without end",
        _writes("createPin", lambda f, n: {"boardId": f.own_boards[0], "title": f"pin {n}"}),
    ),
    flood(
        "comments on one pin",
        _writes("createComment", lambda f, n: {"pinId": f.pins[0], "text": f"comment {n}"}),
    ),
    flood(
        "likes and unlikes", _turned("likePin", "unlikePin", lambda f, n: {"pinId": _of(f.pins, n)})
    ),
    flood(
        "follows and unfollows",
        _turned("followUser", "unfollowUser", lambda f, n: {"userId": _of(f.users, n)}),
    ),
    flood(
        "a board made secret and public",
        _writes("updateBoard", lambda f, n: {"boardId": f.own_boards[0], "secret": n % 2 == 0}),
    ),
    flood(
        "drags on one board",
        _writes(
            "reorderPin",
            lambda f, n: {
                "boardId": f.own_boards[0],
                "pinId": _of(f.own_pins, n),
                "beforePinId": _of(f.own_pins, n + 1),
            },
        ),
    ),
    flood(
        "moves to and fro",
        _writes(
            "movePin",
            lambda f, n: {"pinId": _of(f.own_pins, n), "boardId": _of(f.own_boards, n // 20)},
        ),
    ),
    flood("9,000 pins put in order", _many_pins, 8),
    flood(
        "idempotency keys without end",
        _writes(
            "createBoard",
            lambda f, n: {"name": "board", "idempotencyKey": f"{n}-{f.stranger}"[:255]},
        ),
    ),
    flood("one idempotency key for all", _writes("createBoard", _conflicting)),
    flood("feeds that wait for a write", _waiting_feeds),
]

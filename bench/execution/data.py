"""The data of all contenders: 5,000 pins, 2,000 boards, 1,000 users, and a feed for each of 1,000
viewers. It is deterministic, so that answers can be compared."""

import json
import random
from functools import cache
from typing import Any

VIEWERS = 1000
FEED = 120  # pins of a viewer's feed
WORDS = ["lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit", "tempor"]
QUERY = """query HomeFeed($first: Int!, $after: String) {
  homeFeed(first: $first, after: $after) {
    edges {
      cursor
      node {
        id
        title
        description
        link
        imageUrl
        createdAt
        board { id name owner { id username } }
        owner { id username }
      }
    }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""


def operations(count: int) -> list[str]:
    """Ordinary operations, all different: pages of the feed with some of the fields."""
    fields = ("title", "description", "link", "imageUrl", "createdAt")
    found = []
    for n in range(count):
        chosen = " ".join(name for bit, name in enumerate(fields) if n >> bit & 1)
        found.append(
            f"query Page{n}($first: Int!, $after: String) {{ homeFeed(first: $first, after: $after)"
            f" {{ edges {{ cursor node {{ id {chosen} board {{ id name owner {{ id username }} }}"
            f" owner {{ id username }} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        )
    return found


@cache
def data() -> dict[str, Any]:
    """{"users": [...], "boards": [...], "pins": [...], "feeds": [[pin's index, ...], ...]}."""
    rng = random.Random(42)

    def words(count: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(count))

    users = [{"id": f"u{n}", "username": f"user_{n}_{rng.choice(WORDS)}"} for n in range(1000)]
    boards = [
        {"id": f"b{n}", "name": words(3), "ownerId": f"u{rng.randrange(1000)}"} for n in range(2000)
    ]
    pins = [
        {
            "id": f"p{n}",
            "title": words(6),
            "description": words(16),
            "link": f"https://example.com/articles/{n}/{rng.choice(WORDS)}?ref=pin",
            "imageUrl": f"https://i.example.com/{rng.getrandbits(64):016x}/{n:016x}.jpg",
            "createdAt": f"2026-0{1 + n % 9}-1{n % 10}T0{n % 10}:1{n % 10}:2{n % 10}.000Z",
            "boardId": f"b{rng.randrange(2000)}",
            "ownerId": f"u{rng.randrange(1000)}",
        }
        for n in range(5000)
    ]
    feeds = [rng.sample(range(len(pins)), FEED) for _ in range(VIEWERS)]
    return {"users": users, "boards": boards, "pins": pins, "feeds": feeds}


def body(first: int) -> bytes:
    """The request for a page of a viewer's feed."""
    operation = {"query": QUERY, "variables": {"first": first}, "operationName": "HomeFeed"}
    return json.dumps(operation).encode()


def expected(viewer: int, first: int) -> bytes:
    """The expected response, made directly from the data."""
    rows = data()
    feed = rows["feeds"][viewer]
    edges = [
        {"cursor": f"c{n}", "node": _pin(rows["pins"][place])}
        for n, place in enumerate(feed[:first])
    ]
    info = {
        "hasNextPage": first < len(feed),
        "hasPreviousPage": False,
        "startCursor": edges[0]["cursor"],
        "endCursor": edges[-1]["cursor"],
    }
    return dumped({"data": {"homeFeed": {"edges": edges, "pageInfo": info}}})


def dumped(response: Any) -> bytes:
    """JSON without spaces, in the order of the response."""
    return json.dumps(response, separators=(",", ":"), ensure_ascii=False).encode()


def _pin(pin: dict[str, str]) -> dict[str, Any]:
    board = data()["boards"][int(pin["boardId"][1:])]
    shown = ("id", "title", "description", "link", "imageUrl", "createdAt")
    return {
        **{name: pin[name] for name in shown},
        "board": {"id": board["id"], "name": board["name"], "owner": _user(board["ownerId"])},
        "owner": _user(pin["ownerId"]),
    }


def _user(id: str) -> dict[str, str]:
    user: dict[str, str] = data()["users"][int(id[1:])]
    return {"id": user["id"], "username": user["username"]}

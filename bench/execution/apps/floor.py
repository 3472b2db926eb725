"""The floor: this one query answered by hand-written code, with the same batches, as plain ASGI."""

from typing import Any

import orjson

from bench.execution.feed import BATCHES, FEEDS, viewer_of


async def answer(viewer_id: int, first: int) -> bytes:
    feed = FEEDS[viewer_id]
    pins = await BATCHES["pins"](feed[:first])
    boards = await BATCHES["boards"]([pin.board_id for pin in pins])
    owners = await BATCHES["users"]([pin.owner_id for pin in pins])
    board_owners = await BATCHES["users"]([board.owner_id for board in boards])
    edges = [
        {
            "cursor": f"c{place}",
            "node": {
                "id": pin.id,
                "title": pin.title,
                "description": pin.description,
                "link": pin.link,
                "imageUrl": pin.image_url,
                "createdAt": pin.created_at,
                "board": {
                    "id": board.id,
                    "name": board.name,
                    "owner": {"id": board_owner.id, "username": board_owner.username},
                },
                "owner": {"id": owner.id, "username": owner.username},
            },
        }
        for place, (pin, board, owner, board_owner) in enumerate(
            zip(pins, boards, owners, board_owners, strict=True)
        )
    ]
    info = {
        "hasNextPage": first < len(feed),
        "hasPreviousPage": False,
        "startCursor": edges[0]["cursor"],
        "endCursor": edges[-1]["cursor"],
    }
    return orjson.dumps({"data": {"homeFeed": {"edges": edges, "pageInfo": info}}})


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    message = await receive()
    first = orjson.loads(message["body"])["variables"]["first"]
    authorization = dict(scope["headers"])[b"authorization"].decode()
    body = await answer(viewer_of(authorization), first)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})

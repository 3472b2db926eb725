"""Serves stock strawberry with subscriptions over WebSocket, for `bench.live`: the events of one
board, by a queue for each subscriber."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator

import strawberry
import uvicorn
from strawberry.asgi import GraphQL

QUEUES: set[asyncio.Queue[str]] = set()


@strawberry.type
class Board:
    id: strawberry.ID
    name: str


@strawberry.type
class Pin:
    id: strawberry.ID
    title: str

    @strawberry.field
    async def board(self) -> Board:
        return Board(id=strawberry.ID("1"), name="Live")


@strawberry.type
class BoardChanged:
    kind: str
    order_version: str
    pin: Pin | None


@strawberry.type
class Query:
    ok: bool = True


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def save(self, title: str) -> bool:
        for queue in QUEUES:
            queue.put_nowait(title)
        return True


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def board_changed(self, board_id: strawberry.ID) -> AsyncGenerator[BoardChanged, None]:
        queue: asyncio.Queue[str] = asyncio.Queue()
        QUEUES.add(queue)
        try:
            yield BoardChanged(kind="STARTED", order_version="0", pin=None)
            while True:
                pin = Pin(id=strawberry.ID("2"), title=await queue.get())
                yield BoardChanged(kind="SAVED", order_version="1", pin=pin)
        finally:
            QUEUES.discard(queue)


if __name__ == "__main__":
    schema = strawberry.Schema(Query, Mutation, Subscription)
    listener = socket.create_server(("127.0.0.1", 0))
    said = {"port": listener.getsockname()[1], "board": "1", "pin": "2", "token": ""}
    print(json.dumps(said), flush=True)
    config = uvicorn.Config(
        GraphQL(schema), log_level="error", ws_per_message_deflate=False, ws="websockets-sansio"
    )
    uvicorn.Server(config).run(sockets=[listener])

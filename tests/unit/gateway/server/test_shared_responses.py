"""Bytes that are written to a connection in one turn of the event loop are sent together."""

import asyncio
from typing import Any, cast

from gateway.server.shared_responses import MOST, Sending
from tests.unit.gateway.server.loops import in_each_loop


class Transport:
    """Records the calls that it gets."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.closing = True
        self.done.append("closed")

    def is_closing(self) -> bool:
        return self.closing


def sending() -> tuple[Sending, Transport]:
    transport = Transport()
    return Sending(cast(asyncio.Transport, transport), lambda: False), transport


@in_each_loop
async def test_what_is_written_in_a_turn_is_sent_in_the_next_in_one_call() -> None:
    (one, first), (other, second) = sending(), sending()
    one.write(b"head")
    one.write(b"body")
    other.write(b"all")
    assert first.done == second.done == []
    await asyncio.sleep(0)
    assert (first.done, second.done) == ([b"headbody"], [b"all"])
    one.write(b"more")
    await asyncio.sleep(0)
    assert first.done == [b"headbody", b"more"]


@in_each_loop
async def test_much_is_sent_at_once_and_in_its_order() -> None:
    kept, transport = sending()
    kept.write(b"head")
    kept.write(b"x" * MOST)
    kept.write(b"tail")
    assert transport.done == [b"head" + b"x" * MOST]
    await asyncio.sleep(0)
    assert transport.done[1:] == [b"tail"]


@in_each_loop
async def test_what_is_kept_is_sent_before_the_connection_is_closed() -> None:
    kept, transport = sending()
    kept.write(b"last")
    kept.close()
    await asyncio.sleep(0)
    assert transport.done == [b"last", "closed"]


@in_each_loop
async def test_nothing_is_sent_on_a_lost_connection() -> None:
    kept, transport = sending()
    kept.write(b"late")
    transport.closing = True
    await asyncio.sleep(0)
    assert transport.done == []

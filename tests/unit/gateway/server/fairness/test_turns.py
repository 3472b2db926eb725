"""In one turn of the event loop, few requests of one client begin, and other clients' requests
begin at once."""

import asyncio
from collections import Counter

import pytest

from gateway.http.peers import site
from gateway.server.fairness.turns import HEAVY_BYTES, Turns

pytestmark = pytest.mark.anyio


async def begin(turns: Turns, client: str, begun: list[tuple[int, str]], size: int = 0) -> None:
    if not turns.begin(client, size):
        await turns.wait(client, size)
    begun.append((number_of_turn(), client))


def number_of_turn() -> int:
    return _turn


_turn = 0


async def count_turns(turns: int) -> None:
    global _turn
    for _turn in range(turns):
        await asyncio.sleep(0)


async def test_a_client_with_many_requests_begins_few_in_each_turn() -> None:
    turns, begun = Turns(4), list[tuple[int, str]]()
    tasks = [asyncio.ensure_future(begin(turns, "a", begun)) for _ in range(100)]
    await count_turns(40)
    await asyncio.gather(*tasks)
    each = [sum(turn == number for turn, _ in begun) for number in range(40)]
    assert max(each) == 4
    assert sum(each) == 100


async def test_another_client_begins_at_once() -> None:
    turns, begun = Turns(4), list[tuple[int, str]]()
    tasks = [asyncio.ensure_future(begin(turns, "a", begun)) for _ in range(100)]
    await asyncio.sleep(0)
    assert turns.begin("b", 0)
    await asyncio.gather(*tasks)


async def test_a_large_body_counts_as_several_requests_and_yet_begins() -> None:
    turns, begun = Turns(4), list[tuple[int, str]]()
    sizes = [0, 10 * HEAVY_BYTES, 0, 10 * HEAVY_BYTES]
    tasks = [asyncio.ensure_future(begin(turns, "a", begun, size)) for size in sizes]
    await count_turns(10)
    await asyncio.gather(*tasks)
    assert len({turn for turn, _ in begun}) == 4


async def test_requests_begin_in_their_order_and_cancelled_ones_are_passed_over() -> None:
    turns, begun = Turns(1), list[int]()

    async def one(number: int) -> None:
        if not turns.begin("a", 0):
            await turns.wait("a", 0)
        begun.append(number)

    tasks = [asyncio.ensure_future(one(number)) for number in range(6)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert begun == [0, 1, 3, 4, 5]


async def test_nothing_is_kept_of_clients_that_have_gone() -> None:
    turns, begun = Turns(1), list[tuple[int, str]]()
    await asyncio.gather(*(begin(turns, f"{number % 7}", begun) for number in range(50)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (turns._begun, len(turns._waiting), turns._armed) == ({}, 0, False)


def crowd(count: int, step: int = 1) -> list[str]:
    """Clients in networks of 64 bits, in one network of 48 bits."""
    return [site(f"2001:db8:0:{step * number:x}::1") for number in range(count)]


async def test_the_clients_of_a_network_begin_few_in_each_turn() -> None:
    turns, begun = Turns(1), list[tuple[int, str]]()
    tasks = [asyncio.ensure_future(begin(turns, client, begun)) for client in crowd(256)]
    await asyncio.sleep(0)
    assert turns.begin(site("2001:db8:0:100::1"), 0), "in another network of 56 bits"
    assert turns.begin("198.51.100.1", 0)
    await count_turns(80)
    await asyncio.gather(*tasks)
    at_once, later = begun[:4], begun[4:]
    assert len({turn for turn, _ in at_once}) == 1
    assert max(Counter(turn for turn, _ in later).values()) == 4
    assert {client for _, client in begun} == {*crowd(256)}


async def test_a_large_network_of_small_ones_begins_sixteen_in_a_turn() -> None:
    turns, begun = Turns(1), list[tuple[int, str]]()
    clients = crowd(256, step=256)  # each in a network of 56 bits of its own
    tasks = [asyncio.ensure_future(begin(turns, client, begun)) for client in clients]
    await asyncio.sleep(0)
    assert turns.begin(site("2001:db8:1::1"), 0), "in another network of 48 bits"
    await count_turns(80)
    await asyncio.gather(*tasks)
    assert max(Counter(turn for turn, _ in begun[16:]).values()) == 16
    assert {client for _, client in begun} == {*clients}


async def test_cancelled_requests_of_a_crowd_hold_nobody_up() -> None:
    turns, begun = Turns(1), list[tuple[int, str]]()
    tasks = [asyncio.ensure_future(begin(turns, client, begun)) for client in crowd(256)]
    await asyncio.sleep(0)
    for task in tasks[20:200]:
        task.cancel()
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert len(begun) == 76
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (turns._begun, len(turns._waiting), turns._armed) == ({}, 0, False)

"""In one turn of the event loop, few requests of one client begin, and other clients' requests
begin at once."""

import asyncio

import pytest

from gateway.cost.turns import HEAVY_BYTES, Turns

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
    assert (turns._begun, turns._waiting, turns._armed) == ({}, {}, False)

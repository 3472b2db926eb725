"""Gates in front of rows that many transactions need."""

import asyncio

import pytest

from datasources.errors import StoreConflict
from datasources.sql import gates
from datasources.sql.gates import MOST_KEYS, Crowded, Gates, Key, Turn

pytestmark = pytest.mark.anyio
A, B = ("db00001", 1, 1), ("db00001", 1, 2)


async def tick() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_those_that_wait_pass_in_the_order_in_which_they_came() -> None:
    made, passed = Gates(width=2), list[int]()

    async def writer(number: int) -> None:
        await made.wait(A)
        passed.append(number)

    tasks = [asyncio.ensure_future(writer(number)) for number in range(5)]
    await tick()
    for left in range(5):
        assert passed == list(range(min(left + 2, 5)))
        made.leave(A)
        await tick()
    assert all(task.done() for task in tasks)
    assert made.enter(A)
    assert not made._queues


async def test_one_that_is_cancelled_gives_its_place_to_the_next() -> None:
    """Cancelled before it passed, and at the moment at which it was let through."""
    made = Gates(width=1)
    await made.wait(A)
    waiting = [asyncio.ensure_future(made.wait(A)) for _ in range(4)]
    await tick()
    waiting[0].cancel()
    made.leave(A)  # before the cancelled task ran
    waiting[1].cancel()  # which has been let through
    await tick()
    assert [task.cancelled() for task in waiting[:2]] == [True, True]
    assert [task.done() for task in waiting[2:]] == [True, False]
    made.leave(A)
    await tick()
    assert waiting[3].done()
    made.leave(A)
    assert not made._inside
    assert not made._queues


async def test_a_turn_tells_which_gates_are_full_and_leaves_those_it_passed() -> None:
    made = Gates(width=1)
    first, second = Turn(made), Turn(made)
    first.enter([A])
    first.enter([A])
    with pytest.raises(Crowded) as caught:
        second.enter([A, B])
    assert caught.value.keys == {A}
    second.leave()
    waiting = asyncio.ensure_future(second.wait([B, A]))
    await tick()
    assert not waiting.done()
    first.leave()
    await waiting
    second.enter([A, B])
    second.leave()
    assert not made._inside


async def test_a_bulk_load_passes_no_gates() -> None:
    made = Gates(width=1)
    Turn(made).enter([A])
    keys: list[Key] = [("db00001", 1, number) for number in range(MOST_KEYS + 1)]
    Turn(made).enter(keys)
    assert made._inside.total() == 1


async def test_a_wait_that_takes_too_long_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "WAIT_SECONDS", 0.0)
    made = Gates(width=1)
    Turn(made).enter([A])
    late = Turn(made)
    with pytest.raises(StoreConflict, match="too many writers"):
        await late.wait([A])
    late.leave()
    assert made._inside[A] == 1

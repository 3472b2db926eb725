"""A client that takes more than its share of the loop's time waits for other clients."""

import asyncio
import gc
import random

import pytest

from gateway.http.peers import site
from gateway.server.fairness import shares as module
from gateway.server.fairness.shares import ALONE, BURST, LOOKED_AT, MOST_DEBT, WINDOW, Shares, timed
from gateway.server.fairness.turns import Turns

pytestmark = pytest.mark.anyio
SHARE = 0.25


class Clock:
    """A clock that is set by hand, and a process that uses the part `busy` of its time."""

    def __init__(self, busy: float = 1.0) -> None:
        self.now, self.busy = 0.0, busy

    def __call__(self) -> float:
        return self.now

    def shares(self) -> Shares:
        return Shares(SHARE, clock=self, used=lambda: self.now * self.busy)


def crowded(clock: Clock, debt: float) -> Shares:
    """A client "a" with this debt, while a request of "b" is in progress."""
    shares = clock.shares()
    shares.begin("b")
    shares.charge("a", debt)
    return shares


def test_a_client_may_take_a_burst() -> None:
    assert crowded(Clock(), BURST).wait("a") == 0


def test_a_client_in_debt_waits_while_another_clients_request_is_in_progress() -> None:
    shares = crowded(Clock(), 2 * BURST)
    assert shares.wait("a") > 0
    assert shares.wait("b") == 0


def test_a_client_in_debt_begins_when_no_request_is_in_progress() -> None:
    clock = Clock()
    shares = clock.shares()
    begun = shares.begin("b")
    shares.charge("a", 2 * BURST)
    shares.end("b", begun)
    assert shares.wait("a") == 0
    shares.begin("a")
    assert shares.wait("a") > 0, "one request at a time"


def test_a_debt_is_worked_off_at_the_rate_of_the_share() -> None:
    clock = Clock()
    shares = crowded(clock, 2 * BURST)
    clock.now = BURST / SHARE - 0.01
    assert shares.wait("a") > 0
    clock.now = BURST / SHARE + WINDOW
    assert shares.wait("a") == 0


def waited(busy: float) -> float:
    """The seconds for which a client with a large debt waits, if the process is busy for this part
    of its time."""
    clock = Clock(busy)
    shares = crowded(clock, MOST_DEBT)
    while shares.wait("a"):
        clock.now += WINDOW
    return clock.now


def test_a_debt_is_worked_off_faster_while_the_process_has_time_to_spare() -> None:
    at_the_share = (MOST_DEBT - BURST) / SHARE
    assert waited(busy=0.9) == pytest.approx(at_the_share, abs=WINDOW)
    assert waited(busy=0.5) < 0.7 * at_the_share


def test_a_busy_process_goes_back_to_the_share() -> None:
    clock = Clock(busy=0.5)
    shares = crowded(clock, MOST_DEBT)
    while shares.wait("a"):
        clock.now += WINDOW
    clock.busy = 100.0  # from now on: the clock stands for the process's whole time
    for _ in range(20):
        clock.now += WINDOW
        shares.wait("a")
    assert shares._rate == SHARE


def test_no_debt_lasts_longer_than_the_bound() -> None:
    clock = Clock()
    shares = crowded(clock, 100.0)
    clock.now = (MOST_DEBT - BURST) / SHARE + WINDOW
    assert shares.wait("a") == 0


def test_a_client_that_is_alone_is_never_in_debt() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.begin("a")
    shares.charge("a", 1.0)
    assert shares.wait("a") == 0


def test_a_client_is_alone_a_while_after_the_last_request_of_another_one() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.end("b", shares.begin("b"))
    shares.begin("a")
    shares.charge("a", MOST_DEBT)
    clock.now = WINDOW
    assert shares.wait("a") > 0
    clock.now = ALONE + 2 * WINDOW
    shares.charge("a", MOST_DEBT)
    assert shares.wait("a") == 0


def test_the_usual_time_of_a_request_is_charged_in_advance_and_given_back() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.begin("b")
    for _ in range(50):  # a request of "a" takes the time of a burst
        begun = shares.begin("a")
        shares.charge("a", BURST)
        shares.end("a", begun)
        clock.now += 1.0
        shares.wait("a")
    assert shares.wait("a") == 0
    first, second = shares.begin("a"), shares.begin("a")
    assert shares.wait("a") > 0, "nothing of them was charged yet, and yet no third one begins"
    shares.end("a", first)
    shares.end("a", second)
    assert shares.wait("a") == 0


def test_charges_grow_with_the_time_that_no_step_accounts_for() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.begin("b")
    shares.charge("a", 0.02)
    clock.now, clock.busy = WINDOW, 0.6  # two thirds of the process's time were in threads
    shares.wait("a")
    shares.charge("a", 0.02)
    assert shares.wait("a") > 0


def test_a_share_of_nothing_bounds_nobody() -> None:
    shares = Shares(0)
    shares.begin("b")
    shares.charge("a", 100.0)
    assert shares.wait("a") == 0


def test_nothing_is_kept_of_clients_that_have_gone() -> None:
    clock = Clock()
    shares = clock.shares()
    for number in range(100):
        shares.end(f"{number}", shares.begin(f"{number}"))
    clock.now = ALONE + WINDOW
    shares.charge("a", 0.0)
    shares.wait("a")
    assert list(shares._accounts) == ["a"]


def test_an_account_that_was_closed_is_freed_at_once() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.end("b", shares.begin("b"))
    gc.collect()
    gc.disable()
    try:
        clock.now = ALONE + WINDOW
        shares.charge("a", 0.0)
        shares.wait("a")
        assert "b" not in shares._accounts
        assert gc.collect() == 0
    finally:
        gc.enable()


def neighbor(number: int, step: int = 1) -> str:
    """A client with a network of 64 bits, in a network of 48 bits that it shares with others."""
    return site(f"2001:db8:0:{step * number:x}::1")


def taken_together(step: int) -> int:
    """How many clients of a network take the burst of one before a new one of them waits."""
    shares = Clock().shares()
    shares.begin("b")
    for number in range(100):
        if shares.wait(neighbor(number, step)):
            return number
        shares.charge(neighbor(number, step), 0.99 * BURST)
    return 100


@pytest.mark.parametrize("step", [1, 256])
def test_the_clients_of_a_network_share_half_a_core(step: int) -> None:
    assert taken_together(step) == 0.5 / SHARE + 1


@pytest.mark.parametrize(("step", "times"), [(1, 4), (256, 16)])
def test_a_network_has_several_times_a_small_share(step: int, times: int) -> None:
    shares = Shares(0.01, clock=Clock(), used=lambda: 0.0)
    shares.begin("b")
    for number in range(times + 1):
        assert shares.wait(neighbor(number, step)) == 0
        shares.charge(neighbor(number, step), 0.99 * BURST)
    assert shares.wait(neighbor(99, step)) > 0
    assert shares.wait(neighbor(0, step)) > 0
    assert shares.wait("b") == 0
    assert shares.wait("2001:db8:1::/64") == 0


def test_a_network_without_competitors_is_never_in_debt_but_its_clients_are() -> None:
    shares = Clock().shares()
    shares.begin(neighbor(0))
    for number in range(1, 20):
        shares.charge(neighbor(number), 0.9 * BURST)
    assert shares.wait(neighbor(20)) == 0
    shares.charge(neighbor(1), BURST)
    assert shares.wait(neighbor(1)) > 0
    shares.begin("b")
    assert shares.wait(neighbor(20)) > 0


def test_the_usual_time_of_a_networks_requests_is_charged_in_advance() -> None:
    clock = Clock()
    shares = clock.shares()
    shares.begin("b")
    for number in range(100):
        begun = shares.begin(neighbor(number))
        shares.charge(neighbor(number), BURST / 2)
        shares.end(neighbor(number), begun)
        clock.now += 1.0
        shares.wait("b")
    begun_at_once = 0
    while not shares.wait(neighbor(200 + begun_at_once)):
        shares.begin(neighbor(200 + begun_at_once))
        begun_at_once += 1
    assert begun_at_once <= 5


def test_the_accounts_of_a_crowd_are_bounded_and_closed_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "CLIENTS", 2_000)
    clock = Clock()
    shares = clock.shares()
    running = shares.begin("b")
    for number in range(10_000):
        shares.end(neighbor(number), shares.begin(neighbor(number)))
        shares.charge(neighbor(number), 0.0)
    assert len(shares._accounts) <= 2_000
    assert "b" in shares._accounts
    for _ in range(3 * 2_000 // LOOKED_AT):
        clock.now += ALONE
        shares.charge("b", 0.0)
        shares.wait("b")
    assert list(shares._accounts) == ["b"]
    assert shares._units == {1: 1, 4: 1, 16: 1}
    shares.end("b", running)


@pytest.mark.parametrize("seed", range(10))
def test_units_are_counted_whatever_comes_and_goes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLIENTS", 50)
    rng, clock = random.Random(seed), Clock()
    shares, running = clock.shares(), list[tuple[str, module.Begun]]()
    for _ in range(300):
        client = rng.choice((neighbor(rng.randrange(1_000)), f"198.51.100.{rng.randrange(99)}"))
        match rng.randrange(4):
            case 0:
                running.append((client, shares.begin(client)))
            case 1 if running:
                shares.end(*running.pop(rng.randrange(len(running))))
            case 2:
                shares.charge(client, rng.random() * BURST)
            case _:
                clock.now += rng.random() * 3
                shares.wait(client)
        kept = shares._accounts.values()
        for size, count in shares._units.items():
            assert count == sum(size in account.ranks for account in kept)
        assert all(account.debt >= 0 for account in kept)
        assert all(each in kept for account in kept for each in account.chain)
    while running:
        shares.end(*running.pop())
    assert shares.in_progress == 0
    assert not any(account.running for account in shares._accounts.values())


async def test_each_step_of_a_coroutine_is_charged_and_errors_pass_through() -> None:
    clock, charged = Clock(), list[float]()

    async def work(until: asyncio.Future[int]) -> int:
        clock.now += 1
        try:
            found = await until
        finally:
            clock.now += 2
        return found

    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(timed(work(future), clock, charged.append))
    await asyncio.sleep(0)
    clock.now += 10  # others' time
    future.set_result(7)
    assert await task == 7
    assert charged == [1, 2]

    future = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(timed(work(future), clock, charged.append))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert charged == [1, 2, 1, 2]


async def test_a_client_in_debt_waits_in_line_and_other_clients_do_not() -> None:
    clock = Clock()
    shares = crowded(clock, 2 * BURST)
    turns, begun = Turns(shares=shares), list[str]()

    async def begin(client: str) -> None:
        if not turns.begin(client, 0):
            await turns.wait(client, 0)
        begun.append(client)

    tasks = [asyncio.ensure_future(begin("a")) for _ in range(3)]
    await asyncio.sleep(0.01)
    assert begun == []
    for _ in range(5):
        tasks.append(asyncio.ensure_future(begin("c")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert begun == ["c"] * 5
    clock.now = BURST / SHARE + WINDOW
    async with asyncio.timeout(300):
        await asyncio.gather(*tasks)
    assert begun.count("a") == 3

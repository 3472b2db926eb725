"""A circuit in virtual time: when reads leave a server, how they return, and what removals do."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from datasources.circuit import FIRST_SHARE, GOOD_PROBES, STEP, Circuit, Mode
from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from tests.unit.feed_engine.virtual_time import run

DEADLINE = 0.25
KEYS = ["a", "b"]


class Server:
    """A server that is `well`, `hangs` (calls wait for their deadline), or `refuses` connections.
    It has entries, and counts the calls that reached it and the calls that got no answer."""

    def __init__(self, *, refused_is_empty: bool = True) -> None:
        self.does = "well"
        self.calls: Counter[str] = Counter()
        self.waited = 0
        self.removed: list[str] = []
        self.draws = iter([0.5] * 10_000)
        self.circuit: Circuit[str] = Circuit(
            "cache one",
            "one",
            probe=lambda: self.call("probe"),
            remove=self.remove,
            refused_is_empty=refused_is_empty,
            clock=lambda: asyncio.get_running_loop().time(),
            draw=lambda: next(self.draws),
        )

    async def call(self, kind: str) -> None:
        self.calls[kind] += 1
        if self.does == "hangs":
            await asyncio.sleep(DEADLINE)
            self.waited += 1
            raise StoreTimeout("no answer")
        if self.does == "refuses":
            raise Refused("connection refused")

    async def remove(self, keys: Sequence[str]) -> None:
        await self.call("remove")
        self.removed += keys

    async def read(self) -> bool:
        """Whether a read was answered."""
        try:
            await self.circuit.read(lambda: self.call("read"))
        except StoreError:
            return False
        return True

    async def drop(self, *keys: str) -> bool:
        """Whether the keys were dropped."""
        try:
            await self.circuit.removal(keys, lambda: self.remove(keys))
        except StoreError:
            return False
        return True

    async def fail_until_left(self) -> None:
        while self.circuit.mode is not Mode.AVOIDED:
            await self.read()

    async def until(self, mode: Mode) -> None:
        await until(lambda: self.circuit.mode is mode)


async def until(condition: Callable[[], bool]) -> None:
    """Let virtual time pass until the condition holds."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the condition never holds")


def test_three_failures_in_a_row_and_no_read_waits_any_more() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        assert [await server.read() for _ in range(50)] == [False] * 50
        assert server.calls["read"] == 3
        assert server.circuit.state().passed == 47
        await server.circuit.close()

    run(main())


def test_reads_at_a_steady_rate_wait_only_until_the_first_of_them_have_failed() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        reads = []
        for _ in range(120):  # 20 a second for 6 s
            reads.append(asyncio.ensure_future(server.read()))
            await asyncio.sleep(0.05)
        await asyncio.gather(*reads)
        assert server.calls["read"] <= 3 + DEADLINE / 0.05
        await server.circuit.close()

    run(main())


def test_single_failures_between_answers_are_no_reason_to_leave() -> None:
    async def main() -> None:
        server = Server()
        for _ in range(50):
            server.does = "hangs"
            assert not await server.read()
            server.does = "well"
            for _ in range(11):
                assert await server.read()
        assert server.circuit.state().openings == 0

    run(main())


def test_a_server_that_fails_every_second_call_is_left() -> None:
    async def main() -> None:
        server = Server()
        for turn in range(10):
            server.does = "hangs" if turn % 2 else "well"
            await server.read()
        assert server.circuit.mode is Mode.AVOIDED
        server.does = "hangs"
        await server.circuit.close()

    run(main())


def test_reads_return_by_growing_shares_after_good_probes() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        await asyncio.sleep(5)
        assert server.calls["probe"] <= 6
        server.does, before = "well", server.calls["probe"]
        await server.until(Mode.RETURNING)
        assert server.calls["probe"] - before >= GOOD_PROBES
        for share in (1 / 8, 1 / 4, 1 / 2):
            draws = [n / 100 for n in range(100)]
            server.draws = iter(draws)
            asked = sum([await server.read() for _ in draws])
            assert asked == sum(draw < share for draw in draws)
            await asyncio.sleep(STEP)
        assert server.circuit.mode is Mode.WELL
        assert all([await server.read() for _ in range(100)])
        assert FIRST_SHARE == 1 / 8

    run(main())


def test_one_failure_of_a_returning_server_is_a_relapse_that_needs_twice_as_many_probes() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        probes = []
        for _ in range(6):
            server.does = "well"
            await server.until(Mode.RETURNING)
            server.does, server.draws = "hangs", iter([0.0] * 100)
            await server.read()
            assert server.circuit.mode is Mode.AVOIDED
            server.does, before = "well", server.calls["probe"]
            await server.until(Mode.RETURNING)
            probes.append(server.calls["probe"] - before)
            server.does = "hangs"
            await server.read()
        assert probes == [6, 24, 48, 48, 48, 48]
        assert server.circuit.state().openings == 13
        await server.circuit.close()

    run(main())


def test_a_fill_asks_a_returning_server_because_its_read_did() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        with pytest.raises(StoreUnavailable):
            await server.circuit.fill(lambda: server.call("fill"))
        server.does = "well"
        await server.until(Mode.RETURNING)
        for _ in range(10):
            await server.circuit.fill(lambda: server.call("fill"))
        assert server.calls["fill"] == 10

    run(main())


def test_removals_fail_at_once_while_the_server_hangs_but_for_one_a_second() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        for second in range(1, 4):
            drops = [asyncio.ensure_future(server.drop("a")) for _ in range(20)]
            assert await asyncio.gather(*drops) == [False] * 20
            assert server.calls["remove"] == second
            assert server.circuit.state().refused == 19 * second
            await asyncio.sleep(1)
        await server.circuit.close()

    run(main())


def test_a_removal_that_succeeds_where_probes_time_out_lets_the_others_ask() -> None:
    """A busy machine: a removal of lists has four times as long as a probe."""

    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()

        async def slow() -> None:
            await asyncio.sleep(3 * DEADLINE)

        await server.circuit.removal(["a"], slow)
        await asyncio.gather(*(server.circuit.removal(["a"], slow) for _ in range(5)))
        assert server.circuit.state().refused == 0
        await server.circuit.close()

    run(main())


def test_removals_ask_the_server_from_the_first_good_probe_on() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        server.does, probes = "well", server.calls["probe"]
        await until(lambda: server.calls["probe"] > probes)
        assert server.circuit.mode is Mode.AVOIDED
        assert await server.drop("a")
        assert not await server.read()
        await server.circuit.close()

    run(main())


@pytest.mark.parametrize("empty", [True, False])
def test_a_removal_where_no_server_listens_is_done_only_if_that_means_empty(empty: bool) -> None:
    async def main() -> None:
        server = Server(refused_is_empty=empty)
        server.does = "refuses"
        await server.fail_until_left()
        assert await server.drop("a") is empty
        assert server.calls["remove"] == 1
        assert server.circuit.owes("a") is not empty
        await server.circuit.close()

    run(main())


def test_two_removals_wait_and_no_more_when_a_dead_server_hangs() -> None:
    async def main() -> None:
        server = Server()
        server.does = "refuses"
        await server.fail_until_left()
        await asyncio.sleep(3.05)
        server.does = "hangs"
        assert [await server.drop("a") for _ in range(9)] == [False] * 9
        assert server.calls["remove"] <= 2
        await server.circuit.close()

    run(main())


def test_keys_whose_removal_failed_are_not_read_until_the_server_confirmed_it() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        assert not await server.drop("a")
        assert server.circuit.readable(KEYS) == ["b"]
        await asyncio.sleep(3)
        assert server.circuit.readable(KEYS) == ["b"]
        server.does = "well"
        await until(lambda: not server.circuit.owes("a"))
        assert server.removed == ["a"]
        await server.circuit.close()

    run(main())


def test_probes_alone_find_that_a_server_of_writers_hangs() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        assert not await server.drop("a")
        await server.until(Mode.AVOIDED)
        assert (server.calls["remove"], server.calls["read"]) == (1, 0)
        await server.circuit.close()

    run(main())


def test_a_removal_confirmed_late_does_not_settle_one_that_failed_after_it_began() -> None:
    """The first removal may have been done before the second write was committed."""

    async def main() -> None:
        server = Server()
        first = asyncio.Event()

        async def late() -> None:
            await first.wait()

        earlier = asyncio.ensure_future(server.circuit.removal(["a"], late))
        await asyncio.sleep(0)
        server.does = "hangs"
        assert not await server.drop("a")
        first.set()
        await earlier
        assert server.circuit.owes("a")
        server.does = "well"
        assert await server.drop("a")
        assert not server.circuit.owes("a")
        await server.circuit.close()

    run(main())


def test_a_cancelled_removal_is_owed() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        removal = asyncio.ensure_future(server.drop("a"))
        await asyncio.sleep(DEADLINE / 2)
        removal.cancel()
        await asyncio.gather(removal, return_exceptions=True)
        assert server.circuit.owes("a")
        await server.circuit.close()

    run(main())


def test_a_server_that_ended_owes_nothing_if_that_means_empty() -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        assert not await server.drop("a")
        server.does = "refuses"
        await until(lambda: not server.circuit.owes("a"))
        assert server.removed == []
        await server.circuit.close()

    run(main())


def test_the_oldest_of_too_many_owed_keys_are_left_to_the_relay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("datasources.circuit.MOST_OWED", 3)

    async def main() -> None:
        server = Server()
        server.does = "hangs"
        for key in "abcd":
            await server.drop(key)
        await server.drop("b")
        assert server.circuit.readable("abcd") == ["a"]
        await server.drop("e")
        assert server.circuit.readable("abcde") == ["a", "c"]
        await server.circuit.close()

    run(main())


def test_a_probe_with_a_fault_of_its_own_is_logged_and_made_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        call = server.call

        async def broken(kind: str) -> None:
            if kind == "probe":
                raise RuntimeError("broken")
            await call(kind)

        server.call = broken  # type: ignore[method-assign]
        await server.fail_until_left()
        await asyncio.sleep(1)
        server.call, server.does = call, "well"  # type: ignore[method-assign]
        await server.until(Mode.WELL)

    run(main())
    assert "a probe of cache one failed" in caplog.text


def test_an_outage_is_one_line_and_its_end_another(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = Server()
        server.does = "hangs"
        await server.fail_until_left()
        await asyncio.sleep(20)
        server.does = "well"
        await server.until(Mode.WELL)
        await asyncio.sleep(10)
        await server.read()

    with caplog.at_level(logging.INFO, "pinway.stores"):
        run(main())
    began, over = caplog.messages
    assert began == "cache one fails, and shards are read instead: no answer; trying again"
    assert over.startswith("over, after ")

"""A request's time: every call made for it knows when it ends, and no call is left afterwards."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from datasources.protocols import Sides, WideColumnStore
from feed_engine.speculation import ADAPTIVE, Race
from feed_engine.speculation.deadline import ends
from gateway.settings import Http, Settings
from gateway.site.executors import new_executor
from tests.gateways import embedded_gateway
from tests.pauses import Pause

FEEDS = "{ followingFeed(first: 5) { edges { node { id } } } homeFeed(first: 5) { visitId } }"
SECONDS = 300.0
QUIET = replace(ADAPTIVE, warm=0.0)  # a shadow call ends by itself a moment later


class Hanging:
    """A store that never answers. `running` is the number of calls that wait; `reached` is set when
    this number of calls have come."""

    def __init__(self, calls: int) -> None:
        self.reached, self._calls = asyncio.Event(), calls
        self.told: list[float | None] = []  # when the request ends, by each call
        self.running = 0

    async def read(self, *_: Any, **__: Any) -> list[Any]:
        self.told.append(ends.get())
        self.running += 1
        if len(self.told) == self._calls:
            self.reached.set()
        try:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
        finally:
            self.running -= 1


@pytest.fixture
def pass_deadline(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function that moves the clock behind the deadline of each request that runs. It needs an
    event loop of asyncio's own. Tests that anyio runs may get uvloop's, which a fixture of the
    session holds open, and whose timers would take no notice."""

    def jump() -> None:
        loop = asyncio.get_running_loop()
        time = loop.time
        monkeypatch.setattr(loop, "time", lambda: time() + SECONDS)

    return jump


def test_a_request_that_is_over_has_left_no_call_behind(
    tmp_path: Path, pass_deadline: Callable[[], None]
) -> None:
    asyncio.run(_over(tmp_path, pass_deadline))


async def _over(folder: Path, pass_deadline: Callable[[], None]) -> None:
    async with embedded_gateway(folder) as gateway:
        await gateway.sign_up("ann")
        gateway.executor = new_executor(Settings(http=Http(request_timeout=SECONDS)))
        hanging = Hanging(calls=4)
        sides = Sides(*[cast(WideColumnStore, hanging)] * 2)
        races = [Race(sides, cutoff=0.01, deadline=10 * SECONDS, policy=QUIET) for _ in range(2)]
        feeds = replace(gateway.runtime.feeds, pools_race=races[0], feeds_race=races[1])
        gateway.runtime = replace(gateway.runtime, feeds=feeds)
        began = asyncio.get_running_loop().time()
        asked = asyncio.create_task(gateway.ask(FEEDS, "ann"))
        await hanging.reached.wait()
        pass_deadline()
        response = await asked
        [error] = response["errors"]
        assert error["extensions"]["code"] == "TIMEOUT"
        assert hanging.running == 0
        now = asyncio.get_running_loop().time()
        assert all(began < (told or 0) - SECONDS <= now for told in hanging.told)


def test_a_mutation_that_is_cut_tells_for_each_field_what_is_known(
    tmp_path: Path, pass_deadline: Callable[[], None]
) -> None:
    asyncio.run(_cut(tmp_path, pass_deadline))


async def _cut(folder: Path, pass_deadline: Callable[[], None]) -> None:
    async with embedded_gateway(folder) as gateway:
        await gateway.sign_up("ann")
        stores, patient = gateway.stores, gateway.executor
        gateway.executor = new_executor(Settings(http=Http(request_timeout=SECONDS)))
        pause = Pause(0)
        gateway.runtime = replace(gateway.runtime, stores=pause.of(stores))
        fields = " ".join(
            f'b{n}: createBoard(input: {{name: "Board {n}"}}) {{ board {{ id }} }}'
            for n in range(3)
        )
        asked = asyncio.create_task(gateway.ask(f"mutation {{ {fields} }}", "ann"))
        assert await pause.reached(asked)
        pass_deadline()
        response = await asked
        assert response["data"] == {"b0": None, "b1": None, "b2": None}
        assert [(e["path"], e["extensions"]["code"]) for e in response["errors"]] == [
            ([f"b{n}"], "TIMEOUT") for n in range(3)
        ]
        gateway.runtime, gateway.executor = replace(gateway.runtime, stores=stores), patient
        boards = "{ viewer { boards { edges { node { name } } } } }"
        assert (await gateway.data(boards, "ann"))["viewer"]["boards"]["edges"] == []

"""A step that waits for the source is told, and may be given up."""

import asyncio

import pytest

from gateway.operate.migration.waiting import telling_waits

pytestmark = pytest.mark.anyio


class _Step:
    """Work that waits until it may end."""

    def __init__(self) -> None:
        self.may_end, self.was_cancelled = asyncio.Event(), False

    async def run(self) -> str:
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return "done"


async def test_each_wait_is_told_until_the_step_ends() -> None:
    step, told, answers = _Step(), list[str](), iter(["", "tx1", "", "tx2"])

    async def waits() -> str:
        return next(answers)

    def tell(text: str) -> None:
        told.append(text)
        if text == "tx2":
            step.may_end.set()

    assert await telling_waits(step.run(), waits, tell, every=0) == "done"
    assert told == ["tx1", "tx2"]


async def test_the_step_is_given_up_when_the_teller_refuses_to_wait() -> None:
    step = _Step()

    async def waits() -> str:
        return "tx1"

    def tell(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="tx1"):
        await telling_waits(step.run(), waits, tell, every=0)
    assert step.was_cancelled


async def test_the_failure_of_the_step_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("lost")

    async def waits() -> str:
        return ""

    with pytest.raises(ValueError, match="lost"):
        await telling_waits(fail(), waits, print, every=60)

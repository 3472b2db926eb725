"""The fields of a request that begin a home feed's visit share one visit."""

import asyncio
from dataclasses import dataclass

import pytest

from resolvers.visit import Beginning

pytestmark = pytest.mark.anyio


@dataclass
class Page:
    visit: str


class Feed:
    """Begins visits. Each read waits until it may continue."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        self.go = asyncio.Event()
        self.fail = 0

    async def read(self, named: str | None) -> Page:
        self.asked.append(named)
        await self.go.wait()
        if self.fail:
            self.fail -= 1
            raise ValueError("the feed failed")
        return Page(named or f"visit {len(self.asked)}")


async def test_the_first_begins_the_visit_and_the_others_wait_for_its_name() -> None:
    feed, beginning = Feed(), Beginning()
    reads = [asyncio.create_task(beginning.page(feed.read)) for _ in range(5)]
    await asyncio.sleep(0)
    assert feed.asked == [None]
    feed.go.set()
    pages = await asyncio.gather(*reads)
    assert {page.visit for page in pages} == {"visit 1"}
    assert feed.asked == [None] + ["visit 1"] * 4
    assert (await beginning.page(feed.read)).visit == "visit 1"


async def test_where_the_first_fails_the_next_begins_the_visit() -> None:
    feed, beginning = Feed(), Beginning()
    feed.fail = 1
    feed.go.set()
    reads = [beginning.page(feed.read) for _ in range(3)]
    first, *others = await asyncio.gather(*reads, return_exceptions=True)
    assert isinstance(first, ValueError)
    assert {page.visit for page in others if isinstance(page, Page)} == {"visit 2"}
    assert feed.asked == [None, None, "visit 2"]


async def test_a_cancelled_beginning_leaves_the_visit_to_the_next() -> None:
    feed, beginning = Feed(), Beginning()
    first = asyncio.create_task(beginning.page(feed.read))
    second = asyncio.create_task(beginning.page(feed.read))
    await asyncio.sleep(0)
    first.cancel()
    feed.go.set()
    assert (await second).visit == "visit 2"

"""How long a huge response keeps others from the event loop, in turns and in milliseconds."""

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from graphql import build_schema, parse

SDL = """
type Query { list: [Item] rows: [Row] }
type Row { items: [Item] }
type Item { id: ID name: String size: Int score: Float next: Item asked: Int }
"""
QUERIES = {
    "flat": "{ list { id name size score } }",
    "nested": "{ rows { items { id name next { id size } } } }",
    "resolved": "{ list { id asked name } }",
}


class Item(SimpleNamespace):
    def asked(self, info: Any) -> int:
        return self.size + 1  # type: ignore[no-any-return]


def root(objects: int) -> SimpleNamespace:
    """A root whose every query answers about so many objects."""
    tail = Item(id="next", name="next", size=1, score=0.5, next=None)
    half = [
        Item(id=str(n), name=f"item {n}", size=n, score=n / 2, next=tail)
        for n in range(objects // 2)
    ]
    rows = [SimpleNamespace(items=half[n : n + 100]) for n in range(0, len(half), 100)]
    return SimpleNamespace(list=half + half, rows=rows)


async def measure(
    engine: Callable[[Any], Any], query: str, objects: int
) -> tuple[int, float, float]:
    """The turns of the loop that others got while the query was answered, the longest time
    between two of them, and the whole time: ms of this thread's own, so that what else the
    machine does counts for nothing."""
    plan = engine(build_schema(SDL)).compile(parse(QUERIES[query]), None)
    given = root(objects)
    task = asyncio.ensure_future(plan.run(root=given))
    turns, longest = 0, 0.0
    started = last = time.thread_time()
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
        now = time.thread_time()
        longest = max(longest, now - last)
        last = now
    outcome = await task
    assert not outcome.errors
    assert outcome.data.count(b'"id"') >= objects * 0.9
    return turns, 1000 * longest, 1000 * (last - started)


def main() -> None:
    from tests.execution.differential import new_engine

    for query in QUERIES:
        turns, longest, total = asyncio.run(measure(new_engine, query, 200_000))
        print(f"{query:<10}{turns:>8} turns, longest gap {longest:.1f} ms of {total:.0f} ms")


if __name__ == "__main__":
    main()

"""Measures for how long a large response holds the event loop, in steps of Python, in freed memory
and in time.

Steps are the lines of Python that run in one turn of the loop. Freed memory is the number of blocks
that are freed in one turn. Both are the same on all machines. Long operations in C, such as copying
a list, are visible in the time only, which is CPU time of this thread.
`python -m tests.execution.fairness` prints all three for 200,000 objects.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType, SimpleNamespace
from typing import Any

import strawberry
from graphql import parse
from strawberry import Info

from gateway.execution.collector import set_aside, short_passes
from loaders.base import Loader
from tests.execution.comparing import new_engine

PER_ROW = 100
OBJECTS = 20_000


async def loaded_in_bulk(context: Any, items: Sequence["Item"]) -> Sequence[Any]:
    found: Sequence[Any] = await context.items.many([item.number + 1 for item in items])
    return found


@strawberry.interface
class Thing:
    number: int


@strawberry.type
class Item(Thing):
    name: str
    score: float

    @strawberry.field
    def called(self) -> int:
        return self.number + 1

    @strawberry.field
    def where(self, info: Info) -> str:
        return str(info.path.key)

    @strawberry.field
    async def later(self) -> "Item":
        await asyncio.sleep(0)
        return self

    @strawberry.field
    async def loaded(self, info: Info) -> "Item":
        return await info.context.items.load(self.number + 1)  # type: ignore[no-any-return]

    @strawberry.field(metadata={"bulk": loaded_in_bulk})
    async def bulk(self, info: Info) -> "Item":
        raise NotImplementedError

    @strawberry.field
    def itself(self) -> "Item":
        return self

    @strawberry.field
    def items(self, info: Info) -> list["Item"]:
        return info.context.row  # type: ignore[no-any-return]

    @strawberry.field
    def fails(self) -> int | None:
        raise ValueError("no")

    @strawberry.field
    def climbs(self) -> int:
        raise ValueError("no")

    @strawberry.field
    async def climbs_later(self) -> int:
        await asyncio.sleep(0)
        raise ValueError("no")


@strawberry.type
class Other(Thing):
    title: str


@strawberry.type
class Query:
    @strawberry.field
    def every(self, info: Info) -> list[Item]:
        return info.context.all  # type: ignore[no-any-return]

    @strawberry.field
    def nullable(self, info: Info) -> list[Item | None]:
        return info.context.all  # type: ignore[no-any-return]

    @strawberry.field
    def rows(self, info: Info) -> list[Item]:
        return info.context.all[::PER_ROW]  # type: ignore[no-any-return]

    @strawberry.field
    def lists(self, info: Info) -> list[list[Item]]:
        context = info.context
        return [context.row for _ in context.all[::PER_ROW]]

    @strawberry.field
    def numbers(self, info: Info) -> list[int]:
        return info.context.numbers  # type: ignore[no-any-return]

    @strawberry.field
    def things(self, info: Info) -> list[Thing]:
        return info.context.things  # type: ignore[no-any-return]

    @strawberry.field
    def generated(self, info: Info) -> list[Item]:
        def generate() -> Iterator[Item]:
            yield from info.context.all

        return generate()  # type: ignore[return-value]

    @strawberry.field
    async def generated_later(self, info: Info) -> list[Item]:
        async def generate() -> AsyncIterator[Item]:
            for item in info.context.all:
                yield item

        return generate()  # type: ignore[return-value]

    @strawberry.field
    def awaited(self, info: Info) -> list[Item]:
        return info.context.awaited  # type: ignore[no-any-return]


async def later(item: Item) -> Item:
    await asyncio.sleep(0)
    return item


ROUTES = {
    "a list of one resolver": "{ every { number name score } }",
    "resolvers": "{ every { called name } }",
    "resolvers with their path": "{ every { where } }",
    "awaiting resolvers": "{ every { later { number } } }",
    "loaders": "{ every { loaded { number } } }",
    "bulk resolvers": "{ every { bulk { number itself { name } } } }",
    "bulk of what was awaited": "{ every { later { bulk { number } } } }",
    "a list in each object": "{ rows { number items { number itself { name } } } }",
    "lists of lists": "{ lists { number name } }",
    "a list of numbers": "{ numbers }",
    "an interface": "{ things { __typename number ... on Other { title } } }",
    "a generator": "{ generated { number } }",
    "an asynchronous generator": "{ generatedLater { number } }",
    "a list of awaitables": "{ awaited { number } }",
    "errors": "{ every { number fails } }",
    "nulls that climb": "{ nullable { number climbs } }",
    "nulls that climb late": "{ nullable { number climbsLater later { called } } }",
}


class ItemLoader(Loader[int, Item]):
    def __init__(self, items: list[Item]) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # no stores here
        self._items = items
        self.batches = 0

    async def load_batch(self, keys: list[int]) -> list[Item | BaseException]:
        self.batches += 1
        await asyncio.sleep(0)
        items = self._items
        return [items[key % len(items)] for key in keys]


@dataclass(frozen=True, slots=True)
class Measured:
    """`steps`, `freed` and `longest` (ms) are the maximum of one turn of the event loop. `total` is
    in ms."""

    turns: int
    steps: int
    freed: int
    longest: float
    total: float
    batches: int


async def measure(route: str, objects: int, *, steps: bool) -> Measured:
    """Measure how long other tasks wait while a response of about this many objects is made and
    freed. Steps are counted only if `steps` is set, because counting takes time."""
    schema = strawberry.Schema(query=Query, types=[Item, Other])
    items = [Item(number=n, name=f"item {n}", score=n / 2) for n in range(objects)]
    others = [Other(number=n, title="other") for n in range(objects // 2)]
    context = SimpleNamespace(
        all=items,
        row=items[:PER_ROW],
        items=ItemLoader(items),
        numbers=list(range(objects)),
        things=[*items[::2], *others],
        awaited=[later(item) for item in items] if "awaited" in ROUTES[route] else None,
    )
    plan = new_engine(schema._schema).compile(parse(ROUTES[route]), None)
    counted = most = freed = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal counted
        counted += 1
        return trace

    async def answer() -> None:
        outcome = await plan.run(context=context)
        assert plan.fallback is None
        assert sum(map(len, outcome.parts)) > objects
        del outcome

    set_aside()
    task = asyncio.ensure_future(answer())
    turns, longest, after = 0, 0.0, 0
    blocks = sys.getallocatedblocks()
    started = last = time.thread_time()
    if steps:
        sys.settrace(trace)
    try:
        while after < objects // 50:  # memory that is freed after the response counts, too
            after += task.done()
            await asyncio.sleep(0)
            turns += 1
            now = time.thread_time()
            longest, last = max(longest, now - last), now
            most, counted = max(most, counted), 0
            freed, blocks = max(freed, blocks - sys.getallocatedblocks()), sys.getallocatedblocks()
            last = time.thread_time()
    finally:
        sys.settrace(None)
    await task
    return Measured(
        turns - after, most, freed, 1000 * longest, 1000 * (last - started), context.items.batches
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=200_000)
    parser.add_argument("--steps", action="store_true", help="count steps as well")
    parser.add_argument("--only", help="a part of a route's name")
    options = parser.parse_args()
    print(
        f"{'route':<28}{'turns':>8}{'steps':>9}{'freed':>9}{'longest ms':>12}{'total ms':>10}"
        f"{'batches':>9}"
    )
    for route in ROUTES:
        if options.only is None or options.only in route:
            with short_passes():  # the server sets the garbage collector like this
                found = asyncio.run(measure(route, options.objects, steps=options.steps))
            print(
                f"{route:<28}{found.turns:>8}{found.steps:>9}{found.freed:>9}{found.longest:>12.1f}"
                f"{found.total:>10.0f}{found.batches:>9}",
                flush=True,
            )


if __name__ == "__main__":
    main()

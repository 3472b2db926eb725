"""Measurements inside one process, without HTTP. Prints a JSON object on the last line.

The benchmark runs it on the server's core, with the Python that is measured. Ours and stock take
turns within each round. A measurement is from the request's bytes to the response's.
"""

import asyncio
import json
import logging
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, cast

import orjson
import strawberry
import uvloop
from graphql import parse, validate
from strawberry.extensions import ParserCache, ValidationCache

from bench.execution import feed, shapes
from bench.execution.data import QUERY, dumped, expected, operations
from gateway.execution.levels.failures import MOST_ERRORS
from gateway.settings import Http, Limits, Settings
from gateway.site.executors import executor_of

BLOCKED_OBJECTS = 200_000

Answer = Callable[[], Awaitable[bytes]]


def stock(schema: strawberry.Schema, request: bytes, context: Callable[[], Any]) -> Answer:
    """Run the query as strawberry's own view does."""

    async def answer() -> bytes:
        message = orjson.loads(request)
        result = await schema.execute(
            message["query"], message.get("variables"), context_value=context()
        )
        response: dict[str, Any] = {"data": result.data}
        if result.errors:
            response["errors"] = [error.formatted for error in result.errors]
        return json.dumps(response).encode()

    return answer


def ours(executor: Any, request: bytes, context: Callable[[], Any]) -> Answer:
    async def answer() -> bytes:
        message = orjson.loads(request)
        result = await executor.run(message["query"], message.get("variables"), None, context())
        body: bytes = result.body()
        return body

    return answer


async def interleaved(answers: dict[str, Answer], seconds: float, rounds: int) -> dict[str, float]:
    """CPU seconds for an answer of each contender: the median over the rounds."""
    took: dict[str, list[float]] = {name: [] for name in answers}
    for answer in answers.values():
        for _ in range(5):
            await answer()
    for _ in range(rounds):
        for name, answer in answers.items():
            count, began, until = 0, time.process_time(), time.perf_counter() + seconds
            while time.perf_counter() < until or not count:
                await answer()
                count += 1
            took[name].append((time.process_time() - began) / count)
    return {name: statistics.median(values) for name, values in took.items()}


def comparable(body: bytes) -> tuple[bytes, list[str]]:
    """The data as it is written, and the errors sorted."""
    response = json.loads(body)
    errors = [
        json.dumps({name: error.get(name) for name in ("locations", "path")}, sort_keys=True)
        for error in response.get("errors", ())
    ]
    return dumped(response["data"]), sorted(errors)


def same(ours: tuple[bytes, list[str]], stock: tuple[bytes, list[str]]) -> bool:
    """Whether the data is the same, and the errors. Ours has the first MOST_ERRORS errors, and a
    last error with the number of the others."""
    if len(stock[1]) <= MOST_ERRORS:
        return ours == stock
    left = Counter(ours[1]) - Counter(stock[1])
    return ours[0] == stock[0] and left.total() == 1 and len(ours[1]) == MOST_ERRORS + 1


class _NoContext(feed.Unmoved):
    asked: frozenset[str] = frozenset()


async def measure_shapes(seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    """Shape → contender → seconds for an answer."""
    plain, cached = shapes.build(), shapes.build((ParserCache, ValidationCache))
    executor = executor_of(shapes.build(), Settings())
    found = {}
    for name, query in shapes.OPERATIONS.items():
        request = orjson.dumps({"query": query})
        answers = {
            "stock": stock(plain, request, _NoContext),
            "cached": stock(cached, request, _NoContext),
            "ours": ours(executor, request, _NoContext),
        }
        bodies = {who: comparable(await answer()) for who, answer in answers.items()}
        assert bodies["stock"] == bodies["cached"], name
        assert same(bodies["ours"], bodies["stock"]), name
        found[name] = await interleaved(answers, seconds, rounds)
    return found


async def measure_page(first: int, seconds: float, rounds: int) -> dict[str, float]:
    """The seconds for a home feed's answer in this process, by contender."""
    request = orjson.dumps({"query": QUERY, "variables": {"first": first}})
    executor = executor_of(feed.build(), Settings())
    cached = feed.build((ParserCache, ValidationCache))
    answers = {
        "stock": stock(feed.build(), request, lambda: feed.stock_context(7)),
        "cached": stock(cached, request, lambda: feed.stock_context(7)),
        "ours": ours(executor, request, lambda: feed.our_context(7)),
    }
    for who, answer in answers.items():
        assert dumped(json.loads(await answer())) == expected(7, first), who
    return await interleaved(answers, seconds, rounds)


async def measure_first_sight(count: int) -> dict[str, float]:
    """The seconds that a new text takes longer than a known text until its first response (parsing,
    validation, limits and compilation), and the seconds for graphql-core's parsing and validation
    alone."""
    schema = feed.build()
    executor = executor_of(schema, Settings())
    parsed, planned = [], []
    texts = operations(2 * count)

    async def answer(text: str) -> float:
        began = time.process_time()
        result = await executor.run(text, {"first": 1}, None, cast(Any, feed.our_context(1)))
        assert result.started
        assert not result.errors
        return time.process_time() - began

    for mine, theirs in zip(texts[::2], texts[1::2], strict=True):
        began = time.process_time()
        validate(schema._schema, parse(theirs))
        parsed.append(time.process_time() - began)
        first = await answer(mine)
        planned.append(first - min([await answer(mine) for _ in range(3)]))
    return {"core": statistics.median(parsed), "ours": statistics.median(planned)}


async def measure_block(count: int) -> dict[str, float]:
    """The longest time that the event loop was blocked during a response with `count` objects."""
    executor = executor_of(
        shapes.build(),
        Settings(http=Http(request_timeout=600), limits=Limits(max_response_bytes=0)),
    )
    query = "query Many($count: Int!) { many(count: $count) { id title count note } }"
    loop = asyncio.get_running_loop()
    longest, last, ticking = 0.0, 0.0, True

    def tick() -> None:
        nonlocal longest, last
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        if ticking:
            loop.call_soon(tick)

    found = []
    for _ in range(3):
        await executor.run(query, {"count": 10}, None, cast(Any, _NoContext()))
        longest, last, ticking = 0.0, time.perf_counter(), True
        loop.call_soon(tick)
        began = time.perf_counter()
        result = await executor.run(query, {"count": count}, None, cast(Any, _NoContext()))
        took = time.perf_counter() - began
        ticking = False
        body = result.body()
        assert len(json.loads(body)["data"]["many"]) == count
        found.append((longest, took))
        await asyncio.sleep(0)
    longest, took = min(found)
    return {"longest": longest, "took": took, "objects": count}


async def main(quick: bool) -> None:
    seconds, rounds = (0.15, 3) if quick else (0.6, 7)
    found = {
        "shapes": await measure_shapes(seconds, rounds),
        "page 1": await measure_page(1, seconds, rounds),
        "page 50": await measure_page(50, seconds, rounds),
        "first sight": await measure_first_sight(40 if quick else 300),
        "block": await measure_block(BLOCKED_OBJECTS),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    # Both create log records of errors, and neither writes them.
    logging.basicConfig(handlers=[logging.NullHandler()])
    uvloop.run(main("--quick" in sys.argv))

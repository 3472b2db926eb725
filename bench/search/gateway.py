"""Measures search in a whole gateway: beside a plain read of objects, and until a new pin is
found."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

from bench.rows import Row
from bench.search.titles import Texts
from datasources.protocols import SearchRequest
from feed_engine import writes
from gateway.execution.executor import Executor
from gateway.operate.imports.entries import Entry
from gateway.operate.imports.jsonl import AnyLine, BoardLine, PinLine, UserLine, canonical
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions
from gateway.settings import read_settings
from gateway.site.executors import new_executor
from gateway.site.installation import install
from gateway.site.runtime import Runtime, running
from resolvers.context import Context

A_BOARD = 200  # pins
RATE = 50  # operations a second
SEARCH = """query($text: String!) { search(text: $text, first: 25) { edges { node {
  ... on Pin { id title image { url } } ... on Board { id name } } } } }"""
READ = "{ pins(first: 25) { edges { node { id title image { url } } } } }"
SUGGEST = "query($text: String!) { suggest(prefix: $text) { text parts { text matched } } }"


def lines(pins: int) -> Iterator[AnyLine]:
    """A user's boards of A_BOARD pins each."""
    texts = Texts()
    yield UserLine(key="u", username="saver")
    for board in range(-(-pins // A_BOARD)):
        yield BoardLine(key=f"b{board}", owner="u", name=" ".join(texts.words(1, 3)))
    for number in range(pins):
        found = texts.pin(number + 1)
        yield PinLine(
            key=f"p{number}",
            board=f"b{number // A_BOARD}",
            title=found.title,
            description=found.body,
        )


async def in_a_gateway(folder: Path, pins: int, seconds: float, found: int) -> list[Row]:
    """The rows of a gateway in this process, on embedded stores with `pins` pins."""
    settings = read_settings(
        options={"data_dir": folder / "gateway", "limits.profile": "trusted", "limits.max_cost": 0}
    )
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        entries = (Entry(n, line, canonical(line)) for n, line in enumerate(lines(pins), 1))
        options = ImportOptions(strict=True, feeds=False, spool_dir=str(folder))
        await import_entries(runtime.stores, entries, options=options)
    began = time.perf_counter()
    async with running(settings) as runtime:
        assert runtime.search is not None
        while await runtime.search.times() is None:  # noqa: ASYNC110 (no event tells it)
            await asyncio.sleep(0.1)
        built = time.perf_counter() - began
        took = [await _until_found(runtime, number) for number in range(found)]
        times = await _load(runtime, new_executor(settings), seconds)
    p99 = {name: quantiles(some, n=100)[98] for name, some in times.items()}
    p50 = {name: median(some) for name, some in times.items()}
    told = f"{pins:,} pins, {RATE}/s, a third of each kind, in this process, embedded"
    return [
        Row("gateway: the index is built after a start", built, "s", "", f"{pins:,} pins"),
        *(Row(f"gateway: p50 of {name}", value, "ms", "", told) for name, value in p50.items()),
        *(Row(f"gateway: p99 of {name}", value, "ms", "", told) for name, value in p99.items()),
        Row(
            "gateway: p50 of a search over a read's", p50["a search"] / p50["a read"], "x", "", told
        ),
        Row(
            "gateway: p99 of a search over a read's", p99["a search"] / p99["a read"], "x", "", told
        ),
        Row(
            "gateway: until a new pin is found, longest",
            max(took),
            "s",
            "<= 2",
            f"median {median(took):.2f} s of {found}",
        ),
    ]


async def _until_found(runtime: Runtime, number: int) -> float:
    """Seconds from the acknowledgement of a new pin until a search finds it."""
    assert runtime.search is not None
    user = await writes.sign_up(runtime.stores, writes.NewUser(username=f"new{number}"))
    new_board = writes.NewBoard(name="new")
    board = (await writes.create_board(runtime.stores, user.id, new_board)).board
    new = writes.NewPin(board_id=board.id, title=str(10**9 + number))
    await writes.create_pin(runtime.stores, user.id, new)
    began = time.perf_counter()
    while not await runtime.search.search(SearchRequest(new.title, 1)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return time.perf_counter() - began


async def _load(runtime: Runtime, executor: Executor, seconds: float) -> dict[str, list[float]]:
    """The milliseconds of operations that begin at a constant rate, by kind."""
    texts = Texts(3)
    kinds: list[tuple[str, str, Callable[[], str]]] = [
        ("a search", SEARCH, texts.query),
        ("a read", READ, lambda: ""),
        ("suggestions", SUGGEST, texts.unfinished),
    ]
    times: dict[str, list[float]] = {name: [] for name, _, _ in kinds}
    tasks: list[asyncio.Task[None]] = []
    start = time.perf_counter() + 0.1

    async def one(name: str, query: str, text: str, due: float) -> None:
        context = Context(
            *(runtime.stores, runtime.feeds, None, "http://pinway.test", str),
            search=runtime.search,
        )
        await executor.run(query, {"text": text} if text else {}, None, context)
        times[name].append(1000 * (time.perf_counter() - due))

    for number in range(int(seconds * RATE)):
        due = start + number / RATE
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        name, query, made = kinds[number % len(kinds)]
        tasks.append(asyncio.create_task(one(name, query, made(), due)))
    await asyncio.gather(*tasks)
    return times

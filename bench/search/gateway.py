"""Measures search through gateways with the same pins, one on each search store: searches beside
plain reads and suggestions, the time until a new pin is found, and a rebuild of the index."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import aiohttp

from bench.processes import processor_seconds, resident
from bench.rows import Row
from bench.search.engines import OPENSEARCH, TANTIVY
from bench.search.titles import Texts
from gateway.operate.imports.entries import Entry
from gateway.operate.imports.jsonl import AnyLine, BoardLine, PinLine, UserLine, canonical
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions
from gateway.settings import read_settings
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.pinway_process import ROOT, Serving, serving

A_BOARD = 200  # pins
RATE = 50  # operations a second
ROUNDS = 4  # in which the gateways take turns
UNBOUNDED = {"PINWAY_LIMITS__PROFILE": "trusted", "PINWAY_LIMITS__MAX_COST": "0"}
SEARCH = """query($text: String!) { search(text: $text, first: 25) { edges { node {
  ... on Pin { id title image { url } } ... on Board { id name } } } } }"""
READ = "{ pins(first: 25) { edges { node { id title image { url } } } } }"
SUGGEST = "query($text: String!) { suggest(prefix: $text) { text parts { text matched } } }"
SIGN_UP = 'mutation { signUp(input: {username: "newcomer"}) { token } }'
BOARD = 'mutation { createBoard(input: {name: "new"}) { board { id } } }'
PIN = """mutation($board: ID!, $title: String!) {
  createPin(input: {boardId: $board, title: $title}) { pin { id } } }"""


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


async def in_gateways(
    folder: Path, at: str, server: int, pins: int, seconds: float, found: int
) -> list[Row]:
    """The rows of two gateways on embedded stores with the same `pins` pins. `at` and `server`: the
    URL and the process of OpenSearch."""
    await _import(folder / TANTIVY, pins)
    await asyncio.to_thread(shutil.copytree, folder / TANTIVY, folder / OPENSEARCH)
    with ExitStack() as stack:
        async with aiohttp.ClientSession() as client:
            sites = list[Site]()
            for name, url in ((TANTIVY, "embedded"), (OPENSEARCH, f"{at}/gateway")):
                given = {**UNBOUNDED, "PINWAY_STORES__SEARCH": url}
                began = time.perf_counter()
                served = stack.enter_context(
                    serving(folder / name, environment=given, verb="serve", typed=True)
                )
                servers = [server] if name == OPENSEARCH else []
                sites.append(Site(name, served, given, servers, client))
                await sites[-1].until_built()
                sites[-1].built = time.perf_counter() - began
            for number in range(ROUNDS):
                for site in sites:
                    await site.load(Texts(3 + number), seconds / ROUNDS)
            for site in sites:
                await site.find_new_pins(found)
                await site.rebuild()
        return [row for site in sites for row in site.rows(pins)]


async def _import(data: Path, pins: int) -> None:
    settings = read_settings(options={"data_dir": data, "stores.search": ""})
    await install(settings, lambda progress: None)
    async with running(settings, jobs=False) as runtime:
        entries = (Entry(n, line, canonical(line)) for n, line in enumerate(lines(pins), 1))
        options = ImportOptions(strict=True, feeds=False, spool_dir=str(data))
        await import_entries(runtime.stores, entries, options=options)


@dataclass
class Site:
    """A gateway, which answers over HTTP, and what was measured. `servers`: the processes of its
    search store."""

    name: str
    served: Serving
    environment: Mapping[str, str]
    servers: list[int]
    client: aiohttp.ClientSession
    built: float = 0.0
    rebuilt: float = 0.0
    memory: int = 0
    processor: float = 0.0
    errors: int = 0
    found: list[float] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)

    async def ask(self, query: str, token: str = "", **variables: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = {"query": query, "variables": variables}
        url = f"{self.served.url}/graphql"
        async with self.client.post(url, json=body, headers=headers) as response:
            return dict(await response.json())

    async def until_built(self) -> None:
        while "errors" in await self.ask(SEARCH, text="a"):  # noqa: ASYNC110 (no event tells it)
            await asyncio.sleep(0.1)

    async def load(self, texts: Texts, seconds: float) -> None:
        """Operations that begin at a constant rate, a third of each kind."""
        kinds: list[tuple[str, str, Callable[[], str]]] = [
            ("a search", SEARCH, texts.query),
            ("a read", READ, lambda: ""),
            ("suggestions", SUGGEST, texts.unfinished),
        ]
        before, tasks = self._processor(), list[asyncio.Task[None]]()
        start = time.perf_counter() + 0.1

        async def one(name: str, query: str, text: str, due: float) -> None:
            answer = await self.ask(query, **({"text": text} if text else {}))
            self.errors += "errors" in answer
            self.times.setdefault(name, []).append(1000 * (time.perf_counter() - due))

        for number in range(int(seconds * RATE)):
            due = start + number / RATE
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            name, query, made = kinds[number % len(kinds)]
            tasks.append(asyncio.create_task(one(name, query, made(), due)))
        await asyncio.gather(*tasks)
        self.processor += self._processor() - before
        self.memory = resident(self.served.process.pid)

    async def find_new_pins(self, count: int) -> None:
        """The seconds from the acknowledgement of a new pin until a search finds it."""
        token = (await self.ask(SIGN_UP))["data"]["signUp"]["token"]
        board = (await self.ask(BOARD, token))["data"]["createBoard"]["board"]["id"]
        for number in range(count):
            title = str(10**9 + number)
            await self.ask(PIN, token, board=board, title=title)
            began = time.perf_counter()
            while not await self._finds(title):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            self.found.append(time.perf_counter() - began)

    async def rebuild(self) -> None:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pinway", "search", "rebuild"),
            *("--data-dir", str(self.served.data)),
            cwd=ROOT,
            env={**os.environ, **self.environment},
            stdout=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise RuntimeError(f"pinway search rebuild ended with {process.returncode}")
        self.rebuilt = time.perf_counter() - began

    def rows(self, pins: int) -> list[Row]:
        told = f"{pins:,} pins, {RATE}/s, a third of each kind, over HTTP"
        p50 = {name: median(some) for name, some in self.times.items()}
        p99 = {name: quantiles(some, n=100)[98] for name, some in self.times.items()}
        operations = sum(map(len, self.times.values()))
        own = f"with {len(self.servers)} server" if self.servers else "with the index"
        found = f"median {median(self.found):.2f} s of {len(self.found)}"
        rows = [
            ("the index is built after a start", self.built, "s", "", f"{pins:,} pins"),
            *((f"p50 of {name}", value, "ms", "", told) for name, value in p50.items()),
            *((f"p99 of {name}", value, "ms", "", told) for name, value in p99.items()),
            ("p50 of a search over a read's", p50["a search"] / p50["a read"], "x", "", told),
            ("p99 of a search over a read's", p99["a search"] / p99["a read"], "x", "", told),
            ("answers with errors", self.errors, "", "<= 0", f"of {operations:,}"),
            ("processor time", 1000 * self.processor / operations, "ms", "", f"{own}, {told}"),
            ("memory of the gateway", self.memory / 2**20, "MiB", "", told),
            ("until a new pin is found, longest", max(self.found), "s", "<= 2", found),
            ("`pinway search rebuild`", self.rebuilt, "s", "", f"{pins:,} pins"),
        ]
        return [Row(f"gateway, {self.name}: {name}", *rest) for name, *rest in rows]

    async def _finds(self, text: str) -> bool:
        return bool((await self.ask(SEARCH, text=text))["data"]["search"]["edges"])

    def _processor(self) -> float:
        return sum(map(processor_seconds, (self.served.process.pid, *self.servers)))

"""The most expensive requests of strangers within the default limits: processor time, store calls,
memory. A stranger may sign up, so operations that need a viewer are run for a newcomer.

Operations are generated from the schema and widened with aliases until they cost nearly as much as
is allowed. Each is also run with wrong page sizes, so that a part of its answer is errors and
nulls. Hand-written operations (`KNOWN`, `FAILING`) are widened in the same way. Each runs in this
process, from the request's body to the answer's, on embedded stores with the demo content.

`python -m bench.abuse.dearest` runs this part alone, and prints the operations.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvloop
from graphql import FieldNode, NameNode, OperationDefinitionNode, SelectionNode, parse, print_ast

from bench.abuse.attacks import errors, long_texts
from bench.abuse.attacks.random_operations import Drawn
from bench.abuse.attacks.shapes import PAGE_OF_PINS
from bench.abuse.site import SECRET, Facts, prepare
from bench.call_counts import Counts
from bench.rows import Row
from feed_engine.feeds.settings import Feeds
from gateway.app import create_site
from gateway.documents.cache import PreparedOperation
from gateway.execution.executor import Executor
from gateway.http.endpoint import GraphQLEndpoint
from gateway.settings import Settings, read_settings
from gateway.site.executors import new_executor
from gateway.site.runtime import Runtime, running
from schema import schema

SECONDS, CALLS, MEMORY = 0.150, 2_000, 50.0
"""The goals: seconds of processor time, store calls, MiB."""
FULL, QUICK = 400, 60
MEASURED_AGAIN = 12

_FEED = "homeFeed(first: 100) { edges { node { title description board { name } } } }"
_EACH = "id username fullName about createdAt"
KNOWN = {
    "pages of pins": PAGE_OF_PINS,
    "home feeds": _FEED,
    "users": f"users(first: 100) {{ edges {{ cursor node {{ {_EACH} }} }} }}",
    "counts": "users(first: 100) { edges { node { pinCount boardCount followerCount } } }",
    "followers of users": "users(first: 100) { edges { node { followers(first: 20) { edges { "
    "cursor node { id username } } } } } }",
    "pins of boards": "boards(first: 20) { edges { node { pins(first: 20) { edges { cursor node { "
    "id title description } } } } } }",
    "sources": "pins(first: 100) { edges { node { source { source { source { id } } } } } }",
    "covers": "boards(first: 100) { edges { node { cover { board { cover { id } } } } } }",
    "likes": "pins(first: 20) { edges { node { likedBy(first: 20) { edges { node { "
    "likedPins(first: 5) { edges { node { id } } } } } } } } }",
    "comments": "pins(first: 50) { edges { node { comments(first: 10) { edges { node { text author "
    "{ username } pin { title } } } } } } }",
    "interests": "interests(first: 100) { edges { node { pins(first: 20) { edges { node { id } } } "
    "} } }",
    "the schema": "__schema { types { name description fields { name description args { name "
    "description type { name kind } } type { name kind ofType { name } } } } }",
}
FEEDS = (
    "homeFeed(first: 1) { visitId }",  # each run begins a new visit, which all aliases share
    _FEED,
    "followingFeed(first: 1) { edges { cursor } }",
    "followingFeed(first: 100) { edges { node { title description board { name } } } }",
)
"""Feeds of a viewer."""
_NO = "pageInfo { hasNextPage }"
FAILING: dict[str, tuple[str, dict[str, Any]]] = {
    "errors": (errors.failing(10), {}),
    "80 errors of a user": (errors.failing(80), {}),
    "errors behind lines": (errors.failing(80, 190_000), {}),
    "errors behind carriage returns": (errors.failing(60, 150_000, newline="\r"), {}),
    "errors of long names": (errors.failing(60, name="x" * 240), {}),
    "errors of merged fields": (errors.merged(70, 20_000), {}),
    "errors, pages and nulls": (errors.mixed(30), {}),
    "errors of lists in lists": (
        f"{{ users(first: 100) {{ edges {{ node {{ followers(first: 20) {{ edges {{ node {{ "
        f"a: pins(first: 0) {{ {_NO} }} b: boards(first: 0) {{ {_NO} }} }} }} }} }} }} }} }}",
        {},
    ),
    "a null for @include": (errors.NULL_FLAG, {"v": None}),
    "nulls for @skip and @include": (errors.NULL_FLAGS, {"v": None}),
    "a null for an argument": (errors.NULL_ARGUMENT, {"v": None}),
    "a few nulls for an argument": (
        errors.NULL_ARGUMENT.replace("args(includeDeprecated: $v)", "args", 62),
        {"v": None},
    ),
    "leaves of a type": (errors.LEAVES, {}),
    "long names": (
        "{ users(first: 100) { edges { node { followers(first: 15) { edges { "
        + " ".join(f"{'y' * 240}{n}: cursor" for n in range(8))
        + " } } } } } }",
        {},
    ),
}
"""Operations whose answers are errors, nulls, or names."""
_LONG = 900_000
DEAR_VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "a long id": ("query ($v: ID!) { node(id: $v) { id } }", {"v": "9" * _LONG}),
    "a long user name": ("query ($v: String!) { user(username: $v) { id } }", {"v": "x" * _LONG}),
    "a long cursor": (
        "query ($v: String!) { pins(after: $v) { edges { cursor } } }",
        {"v": "x" * _LONG},
    ),
    "many ids": (
        "query ($v: [ID!]!) { nodes(ids: $v) { id } }",
        {"v": [str(n << 46 | 1 << 36 | 10**9) for n in range(100)]},
    ),
    "wrong ids": ("query ($v: [ID!]!) { nodes(ids: $v) { id } }", {"v": [["x" * 80]] * 5_900}),
    "unknown fields of an input": (
        "mutation ($v: CreatePinInput!) { createPin(input: $v) { pin { id } } }",
        {"v": {f"descriptio{'n' * (n % 40)}{n}": 1 for n in range(11_000)}},
    ),
    "a long name": (
        "mutation ($v: CreateBoardInput!) { createBoard(input: $v) { errors { code } } }",
        {"v": {"name": "\xe9" * (_LONG // 6)}},
    ),
    "a name of marks": (
        "mutation ($v: CreateBoardInput!) { createBoard(input: $v) { errors { code } } }",
        {"v": {"name": "a" + "\u0301\u0327" * (_LONG // 12)}},
    ),
}
"""Operations whose variables take longer than the data that they read."""


def _long_texts(board: str) -> Iterator[str]:
    """Operations whose answers are the long descriptions of a board's pins. The last two are much
    larger than an answer may be."""
    for boards, aliases in ((1, 1), (1, 20), (1, 45), (10, 9), (1, 98), (100, 98)):
        yield long_texts.of_boards(board, boards, aliases)


@dataclass
class Spent:
    """The resources that one operation used. Times are in seconds, memory in bytes."""

    text: str
    variables: dict[str, Any]
    token: str
    estimate: int
    seconds: float
    calls: int
    memory: int = 0


class Bench:
    """An endpoint whose store calls are counted."""

    def __init__(self, endpoint: GraphQLEndpoint, executor: Executor, counts: Counts) -> None:
        self._endpoint, self._executor, self._counts = endpoint, executor, counts

    def estimate(self, text: str, variables: dict[str, Any]) -> int | None:
        """The cost of an operation; None if it is refused for another reason."""
        document = self._executor.documents.get(text)
        if document.errors:
            return None
        operation = document.operation(None)
        return (
            operation.estimate.cost(variables) if isinstance(operation, PreparedOperation) else None
        )

    async def ask(self, text: str, variables: dict[str, Any], token: str = "") -> None:
        """Run an operation in the name of a user, or without a viewer."""
        body = json.dumps({"query": text, "variables": variables}).encode()
        headers = {b"content-type": b"application/json"}
        if token:
            headers[b"authorization"] = f"Bearer {token}".encode()
        await self._endpoint.answer(headers, body, "192.0.2.1")

    async def write_long_texts(self, facts: Facts) -> None:
        """Put pins with long descriptions on the stranger's last board."""
        for variables in long_texts.pins(facts.own_boards[-1]):
            await self.ask(long_texts.CREATE, variables, facts.stranger)

    async def measure(
        self, text: str, variables: dict[str, Any], token: str, estimate: int
    ) -> Spent:
        best, calls = float("inf"), 0
        for _ in range(3):
            gc.collect()
            self._counts.clear()
            began = time.process_time()
            await self.ask(text, variables, token)
            best = min(best, time.process_time() - began)
            calls = max(calls, self._counts.calls.total())
        return Spent(text, variables, token, estimate, best, calls)

    async def memory(self, spent: Spent) -> int:
        """The largest growth of the memory while the operation ran."""
        given = spent.text, spent.variables, spent.token
        await self.ask(*given)  # to compile it, and fill the caches
        gc.collect()
        tracemalloc.start()
        try:
            await self.ask(*given)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def measure(folder: Path, prepared: Path, drawn: int, *, told: bool = False) -> list[Row]:
    data = folder / "dearest"
    shutil.copytree(prepared, data)
    settings = read_settings(
        options={"data_dir": data, "jobs.run": False, "limits.rate_cost": 0, "auth.secret": SECRET}
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measured(settings, Facts.read(data / "facts.json"), drawn, told))


async def _measured(settings: Settings, facts: Facts, drawn: int, told: bool) -> list[Row]:
    async with running(settings) as runtime:
        counts, feeds = Counts(), runtime.feeds
        stores = counts.of(runtime.stores)
        counted = Runtime(stores, Feeds(stores, feeds.pools_race, feeds.feeds_race))
        executor = new_executor(settings)
        app: Any = create_site(settings, counted, executor).public
        bench, every = Bench(app._endpoint, executor, counts), list[Spent]()
        await bench.write_long_texts(facts)
        for text, variables, token in _candidates(facts, drawn):
            widened = _widened(text, lambda t, v=variables: bench.estimate(t, v), settings)
            if widened is None:
                continue
            wide, estimate = widened
            every.append(await bench.measure(wide, variables, token, estimate))
        for key in (lambda each: each.seconds, lambda each: each.estimate):
            for spent in sorted(every, key=key, reverse=True)[:MEASURED_AGAIN]:
                spent.memory = spent.memory or await bench.memory(spent)
    slowest = max(every, key=lambda spent: spent.seconds)
    most = max(every, key=lambda spent: spent.calls)
    largest = max(every, key=lambda spent: spent.memory)
    if told:
        for spent in (slowest, most, largest):
            print(spent, end="\n\n")
    near = sum(spent.estimate > settings.limits.max_cost / 2 for spent in every)
    of = f"of {len(every)} operations, {near} of more than half of max_cost"
    return [
        Row(
            "dearest request of a stranger: processor time",
            slowest.seconds * 1e3,
            "ms",
            f"<= {SECONDS * 1e3:g}",
            f"{of}; estimate {slowest.estimate:,}",
        ),
        Row(
            "dearest request of a stranger: store calls",
            most.calls,
            "",
            f"<= {CALLS}",
            f"estimate {most.estimate:,}",
        ),
        Row(
            "dearest request of a stranger: memory",
            largest.memory / 2**20,
            "MiB",
            f"<= {MEMORY:g}",
            f"estimate {largest.estimate:,}",
        ),
    ]


def _candidates(facts: Facts, drawn: int) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Operations with their variables and their viewer's token."""
    for field in KNOWN.values():
        yield f"query {{ {field} }}", {}, ""
    for field in FEEDS:
        yield f"query {{ {field} }}", {}, facts.stranger
    yield from ((text, variables, "") for text, variables in DEAR_VALUES.values())
    yield from ((text, variables, "") for text, variables in FAILING.values())
    yield from ((text, {}, "") for text in _long_texts(facts.own_boards[-1]))
    rng = random.Random(1)
    ids = {"User": facts.users, "Board": facts.boards, "Pin": facts.pins}
    for _ in range(drawn):
        one = Drawn(schema._schema, rng, ids)
        text = one.query()
        yield text, one.variables, ""
        failing = _with_errors(text, rng)
        if failing != text:
            yield failing, one.variables, ""


def _with_errors(text: str, rng: random.Random) -> str:
    """The operation with a page size that is not allowed in some of its fields."""
    return re.sub(
        r"first: \d+",
        lambda size: "first: 0" if rng.random() < 0.5 else size[0],
        "\n" * rng.choice((0, 5_000)) + text,
    )


def _widened(
    text: str, estimate: Callable[[str], int | None], settings: Settings
) -> tuple[str, int] | None:
    """The operation with its root fields repeated as often as the limits allow."""
    alone = estimate(text)
    if alone is None or alone > settings.limits.max_cost:
        return None
    limits = settings.limits
    copies = min(limits.numbers.query_root_fields, limits.max_cost // max(alone, 1))
    while copies > 1:
        wider = _copied(text, copies)
        cost = estimate(wider)
        if cost is not None and cost <= settings.limits.max_cost:
            return wider, cost
        copies -= 1 + copies // 8
    return text, alone


def _copied(text: str, copies: int) -> str:
    """The operation with each root field `copies` times, under aliases."""
    document = parse(text)
    operation = document.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    selections: list[SelectionNode] = []
    for place, selection in enumerate(operation.selection_set.selections):
        if isinstance(selection, FieldNode):
            names = [NameNode(value=f"x{place}y{copy}") for copy in range(copies)]
            selections += [replace(selection, alias=name) for name in names]
        else:
            selections.append(selection)
    wider = replace(
        operation, selection_set=replace(operation.selection_set, selections=tuple(selections))
    )
    lines = text[: len(text) - len(text.lstrip())]  # lines before the operation stay
    return lines + print_ast(replace(document, definitions=(wider, *document.definitions[1:])))


def main() -> None:
    os.chdir(Path(__file__).parents[2])
    drawn = int(sys.argv[1]) if len(sys.argv) > 1 else QUICK
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        for row in measure(folder, prepare(folder), drawn, told=True):
            print(row)


if __name__ == "__main__":
    main()

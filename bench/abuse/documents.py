"""Documents of thousands of tokens in many shapes, and the time to refuse or compile each.

`python -m bench.abuse.documents` prints a line for each shape, and the worst time divided by the
median. The shapes are in `bench/abuse/attacks/shapes.py`.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from graphql import GraphQLSchema

from bench.abuse.attacks.shapes import SHAPES
from bench.rows import Row
from gateway.documents.cache import Documents, PreparedOperation
from gateway.settings import Settings
from gateway.site.executors import limits_of
from schema import schema

TOKENS = 5_000


@dataclass(frozen=True, slots=True)
class Timing:
    """The processor time of a document in seconds, and its outcome."""

    shape: str
    seconds: float
    outcome: str


def time_documents(
    settings: Settings | None = None,
    *,
    tokens: int = TOKENS,
    rounds: int = 3,
    made: GraphQLSchema | None = None,
) -> list[Timing]:
    """Each shape's time from its text to its compiled plan or its errors: the best of several
    rounds. Each round reads the document again."""
    limits = limits_of(settings or Settings())
    found = []
    for shape, write in SHAPES.items():
        text, best, outcome = write(tokens), float("inf"), ""
        for _ in range(rounds):
            cache = Documents(made or schema._schema, size=1, max_bytes=10**9, limits=limits)
            gc.collect()
            began = time.process_time()
            outcome = _compiled(cache, text)
            best = min(best, time.process_time() - began)
        found.append(Timing(shape, best, outcome))
    return found


def _compiled(cache: Documents, text: str) -> str:
    document = cache.get(text)
    if document.errors:
        return document.errors[0].message.split("\n")[0]
    operation: Any = document.operation(None)
    if not isinstance(operation, PreparedOperation):
        return str(operation.message)
    variant = operation.plan._variant({})
    if variant is not None:
        variant._prepare()
    return "compiled"


def worst_over_median(timings: list[Timing]) -> float:
    """The slowest document's time divided by the median."""
    seconds = [timing.seconds for timing in timings]
    return max(seconds) / median(seconds)


def row(rounds: int) -> Row:
    """The slowest shape's time divided by the median."""
    timings = time_documents(rounds=rounds)
    worst = max(timings, key=lambda timing: timing.seconds)
    told = f"worst: {worst.shape}, {worst.seconds * 1e3:.0f} ms"
    measure = f"documents: of {TOKENS:,} tokens, worst over median"
    return Row(measure, worst_over_median(timings), "x", "<= 10", told)


def main() -> None:
    timings = sorted(time_documents(), key=lambda timing: timing.seconds)
    for timing in timings:
        print(f"{timing.seconds * 1e3:8.1f} ms  {timing.shape:30} {timing.outcome[:90]}")
    print(f"worst over median: {worst_over_median(timings):.1f}")


if __name__ == "__main__":
    main()

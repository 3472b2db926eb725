"""Compares the engine with graphql-core on generated cases. To run more cases than the tests do:
`python -m tests.execution.differential --cases 1000000`.

A case is a world (a schema and the behavior of its resolvers) and an operation on its schema. Both
executors run it and must agree (`comparing.py`). A failing case is shrunk, and printed with the
command that runs it again.
"""

import argparse
import asyncio
import gc
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest.mock import patch

from graphql import GraphQLError, print_schema, validate

from gateway.execution.levels import slices
from tests.execution.comparing import (
    Case,
    Difference,
    NewEngine,
    Place,
    Undecided,
    compare,
    new_case,
    new_cut_case,
    new_engine,
    settled,
)
from tests.execution.drawing import Draw, Recorded, Seeded, shrunk
from tests.execution.reference import ReferenceEngine

PER_WORLD = 50

FEATURES = (
    *("sync", "async", "plain", "decorated", "aliases", "arguments", "variables"),
    *("merged fields", "named fragments", "inline fragments", "abstract fragments"),
    *("abstract types resolved", "is_type_of", "async is_type_of", "__typename"),
    *("skip and include by literals", "skip and include by variables", "several operations"),
    *("custom scalars", "enums", "nested lists", "generators", "async generators", "async items"),
    *("wrong variables sent", "refused for wrong variables", "wrong values"),
    *("exceptions raised", "exceptions returned", "errors", "several errors"),
    *("null propagation", "null propagation through lists", "the whole response nulled"),
    *("introspection", "mutations", "mutation operations", "permissions", "field extensions"),
    *(
        "info",
        "bulk",
        "bulk of several",
        "bulk loads",
        "bulk values awaited",
        "hinted",
        "methods",
        "computed attributes",
        "loaders",
        "plain loaders of strawberry",
        "plain loaders of aiodataloader",
        "shared tasks",
        "unusual leaves",
    ),
    *("timeouts in resolvers", "context variables", "cancelled", "timed out", "self-cancelled"),
    *("cut off", "several cut off together"),
    *("shared lists", "attributes overwritten", "counting attributes"),
    *("lone surrogates", "JSON that orjson refuses"),
)


@dataclass(slots=True)
class Failure:
    """A case that failed, with the command that runs it again."""

    world: str
    case: int
    message: str
    choices: list[int]
    cut: bool = field(default_factory=lambda: new_case is new_cut_case)

    def __str__(self) -> str:
        return (
            f"{self.message}\n  python -m tests.execution.differential --world {self.world}"
            f" --case {self.case}{' --cut' if self.cut else ''}"
        )


@dataclass(slots=True)
class Report:
    cases: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    undecided: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    def table(self) -> str:
        lines = [f"{'class':<34}{'cases':>10}{'%':>8}"]
        for feature in sorted({*FEATURES, *self.seen}, key=lambda f: -self.seen[f]):
            share = 100 * self.seen[feature] / max(1, self.cases)
            lines.append(f"{feature:<34}{self.seen[feature]:>10}{share:>8.2f}")
        return "\n".join(lines)


@contextmanager
def cutting() -> Iterator[None]:
    """Cut off every case, and let each run rest as often as it may: resting depends on the time."""
    from tests.execution.slicing import resting

    with ExitStack() as stack:
        stack.enter_context(patch.object(sys.modules[__name__], "new_case", new_cut_case))
        for each in resting(-1.0):
            stack.enter_context(each)
        yield


def one(world: Draw, case: Draw, engine: NewEngine) -> tuple[Place, Case, set[str]]:
    """Compare one operation of a world, in a new event loop."""
    place = settled(world, engine)
    made = new_case(case, place)
    with asyncio.Runner() as runner:
        return place, made, runner.run(compare(place, made))


def run(
    cases: int,
    seed: str,
    *,
    engine: NewEngine = new_engine,
    most: int = 1,
    first: int = 0,
    progress: Callable[[Report], None] | None = None,
    seconds: float | None = None,
) -> Report:
    """Compare cases, until their number, the time, or the number of failures is reached. `first`
    is the number of the seed's first world."""
    report = Report()
    started = time.monotonic()
    number = first
    with asyncio.Runner() as runner:
        while report.cases < cases and len(report.failures) < most:
            world_seed = f"{seed}-{number}"
            number += 1
            place = settled(Seeded(world_seed), engine)
            for index in range(min(PER_WORLD, cases - report.cases)):
                draw = Seeded(f"{world_seed}/{index}")
                case = new_case(draw, place)
                report.cases += 1
                try:
                    seen = runner.run(compare(place, case))
                except Undecided as doubt:
                    report.undecided.append(Failure(world_seed, index, str(doubt), []))
                    continue
                except Difference as difference:
                    report.failures.append(Failure(world_seed, index, str(difference), []))
                    if len(report.failures) >= most:
                        break
                    continue
                if nested(case, place):
                    seen.add("nested lists")
                report.seen.update(seen)
            report.seconds = time.monotonic() - started
            if progress:
                progress(report)
            if seconds is not None and report.seconds > seconds:
                break
    return report


def nested(case: Case, place: Place) -> bool:
    """Whether the operation selects a list of lists."""
    return any(
        f"{name} " in case.operation.text or f"{name}(" in case.operation.text
        for name in _nested_names(place)
    )


def _nested_names(place: Place) -> list[str]:
    from tests.execution.worlds import camel

    return [
        camel(f.name)
        for object_ in place.world.objects.values()
        for f in object_.fields
        if f.type.wraps.count("[") > 1
    ]


def shrink(
    world_seed: str, index: int, engine: NewEngine, seconds: float
) -> tuple[str, Place, Case]:
    """Shrink a failing case: first to a smaller operation on the same world, then to a smaller
    world. Returns the smallest case that fails in the same way, and its message."""
    world, case = Recorded([], Random(world_seed)), Recorded([], Random(f"{world_seed}/{index}"))
    place = settled(world, engine)
    new_case(case, place)
    best: list[Any] = []

    def failing(place: Place, draw: Draw) -> bool:
        try:
            made = new_case(draw, place)
            if validate(place.schema, made.document):
                return False
        except GraphQLError:
            return False
        try:
            with asyncio.Runner() as runner:
                runner.run(compare(place, made))
        except Difference as difference:
            best[:] = [str(difference), place, made]
            return True
        return False

    def world_failing(choices: list[int]) -> bool:
        draw = Recorded(choices)
        try:
            smaller = settled(draw, engine)
        except Exception:
            return False  # not a valid schema
        return failing(smaller, draw)

    if not failing(place, Recorded(case.made)):
        raise SystemExit("It does not fail.")
    operation = shrunk(case.made, lambda choices: failing(place, Recorded(choices)), seconds / 2)
    shrunk([*world.made, *operation], world_failing, seconds / 2)
    return best[0], best[1], best[2]


def show(place: Place, case: Case) -> str:
    try:
        printed = print_schema(place.schema)
    except (TypeError, GraphQLError) as error:  # a default of a custom scalar can't be printed
        printed = f"({error})"
    styles = [
        f"  {o.name}.{f.name}: {f.style} {sorted(f.extras)}"
        for o in (*place.world.objects.values(), *place.world.abstracts.values())
        for f in o.fields
    ]
    return "\n".join(
        (
            printed,
            "decorated" if place.world.decorated else "plain",
            f"trouble {place.world.trouble}, mode {case.mode!r}",
            *styles,
            *(f"  {o.name} recognizes: {o.recognizes!r}" for o in place.world.objects.values()),
            *(f"  {a.name} resolves: {a.resolves!r}" for a in place.world.abstracts.values()),
            "",
            case.operation.text,
            f"operation {case.operation.name!r}, variables {case.variables!r}",
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", default=None, help="any text; a fresh one if left out")
    parser.add_argument("--first", type=int, default=0, help="the number of the first world")
    parser.add_argument("--most", type=int, default=1, help="stop after this many failures")
    parser.add_argument("--world", help="with --case: run that case alone, and shrink it")
    parser.add_argument("--case", type=int)
    parser.add_argument("--seconds", type=float, help="at most: of a run, or for shrinking (60)")
    parser.add_argument("--cut", action="store_true", help="cancel each case while it runs")
    parser.add_argument("--slices", type=int, help="the number of values in a slice")
    parser.add_argument("--reference", action="store_true", help="graphql-core against itself")
    options = parser.parse_args()
    if options.slices:
        slices.SLICE = options.slices
    with cutting() if options.cut else nullcontext():
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    engine: NewEngine = ReferenceEngine if options.reference else new_engine
    if options.world is not None:
        message, place, case = shrink(options.world, options.case, engine, options.seconds or 60)
        print(show(place, case), message, sep="\n\n")
        sys.exit(1)
    seed = options.seed or format(Random().getrandbits(32), "x")
    print(f"seed {seed}", flush=True)
    last, said = time.monotonic(), set[str]()

    def progress(report: Report) -> None:
        nonlocal last
        for found in {*map(str, (*report.undecided, *report.failures))} - said:
            said.add(found)
            print(found, flush=True)
        if time.monotonic() - last > 30:
            last = time.monotonic()
            each = 1000 * report.seconds / report.cases
            print(f"{report.cases} cases, {each:.2f} ms each", flush=True)

    gc.freeze()
    report = run(
        options.cases,
        seed,
        engine=engine,
        most=options.most,
        first=options.first,
        progress=progress,
        seconds=options.seconds,
    )
    print(report.table())
    print(
        f"{report.cases} cases in {report.seconds:.0f} s, {len(report.failures)} failed, "
        f"{len(report.undecided)} undecided"
    )
    for failure in (*report.undecided, *report.failures):
        print(failure)
    sys.exit(bool(report.failures))


if __name__ == "__main__":
    main()

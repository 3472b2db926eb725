"""Compares the outcomes of the engine and of graphql-core for one generated operation.

A case is a world (a schema and the behavior of its resolvers) and an operation on its schema. Both
executors run it and must agree in the bytes of the data, the errors (`reference.py` says which
errors are allowed below a parent that became null), the order of a mutation's effects, and how a
cancelled run ends.
"""

import asyncio
import gc
import json
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from graphql import DocumentNode, GraphQLSchema, parse

from gateway.execution.compile.engine import Engine
from gateway.execution.levels import resolution
from tests.execution import decorated, plain
from tests.execution.behavior import Cut, Run
from tests.execution.drawing import Draw
from tests.execution.operations import Operation, new_operation, plain_values
from tests.execution.reference import (
    ReferenceEngine,
    SpelledOut,
    identity,
    idle,
    possible_errors,
)
from tests.execution.worlds import World, new_world

MODES = ("cancelled", "timed out", "rogue", "cut", "cut")
NewEngine = Callable[[GraphQLSchema], Any]


def new_engine(schema: GraphQLSchema, most_errors: int = 10**9) -> Any:
    """The engine, which reports all errors as graphql-core does, unless `most_errors` are given."""
    return Engine(schema, most_errors=most_errors)


@dataclass(slots=True)
class Place:
    """A world, and its schema in both executors."""

    world: World
    schema: GraphQLSchema
    make: Callable[[Run, str, int], Any]
    enum: Callable[[str, int], Any]
    engine: Any
    reference: ReferenceEngine

    def run(self, **options: Any) -> Run:
        run = Run(self.world, **options)
        run.make = self.make
        run.enum = lambda name, key: self.enum(run, name, key)  # type: ignore[attr-defined]
        return run


def settled(draw: Draw, engine: NewEngine) -> Place:
    world = new_world(draw)
    if world.decorated:
        built = decorated.build(world)
        schema, make, enum = built.schema._schema, built.make, built.enum_value
    else:
        schema, make, enum = plain.build(world), plain.make, plain.enum_value
    return Place(world, schema, make, enum, engine(schema), ReferenceEngine(schema))


@dataclass(slots=True)
class Case:
    operation: Operation
    mode: str
    document: DocumentNode
    cut: Cut | None = None

    @property
    def variables(self) -> dict[str, Any] | None:
        return plain_values(self.operation.variables)


def new_case(draw: Draw, place: Place) -> Case:
    operation = new_operation(draw, place.world)
    mode = draw.pick(MODES) if draw.chance(20) else ""
    cut = None
    if mode == "cut":
        cut = Cut(1 + draw.below(2), together=draw.chance(75), between=draw.chance(30))
    return Case(operation, mode, parse(operation.text), cut)


def new_cut_case(draw: Draw, place: Place) -> Case:
    """A case that is cancelled while its resolvers run."""
    operation = new_operation(draw, place.world)
    cut = Cut(1 + draw.below(3), together=draw.chance(75), between=draw.chance(60))
    return Case(operation, "cut", parse(operation.text), cut)


class Difference(Exception):
    """The outcomes of the engine and of graphql-core differ."""


class Undecided(Difference):
    """The comparison has no result: the oracle can't explain graphql-core's own errors, or Python
    warns of a coroutine that the case's resolvers may have lost themselves."""


@dataclass(slots=True)
class Ended:
    """The end of a run: `how` is "answered", "cancelled", "timed out", "hangs", or "raised ..."
    with the error."""

    how: str
    data: bytes | None
    errors: list[Any]
    started: bool
    run: Run
    hanging: int = field(init=False)
    """How many of the resolvers that wait forever had not ended then."""

    def __post_init__(self) -> None:
        self.hanging = self.run.hung - self.run.unwound


async def ended(plan: Any, run: Run, case: Case) -> Ended:
    """Run a plan. If the event loop has nothing more to do, the run is ended as the case says."""
    timeout = asyncio.timeout(None)

    async def go() -> Any:
        async with timeout:
            return await plan.run(context=run, variables=case.variables, root=None)

    task = asyncio.ensure_future(go())
    run.cancel = task.cancel
    await idle(task)
    hangs = not task.done() and run.hung == run.unwound  # though no resolver waits forever
    if not task.done():
        if case.mode == "timed out":
            timeout.reschedule(asyncio.get_running_loop().time() - 1)
        else:
            task.cancel()
    try:
        outcome = await task
    except asyncio.CancelledError:
        return Ended("hangs" if hangs else "cancelled", None, [], True, run)
    except TimeoutError:
        return Ended("timed out", None, [], True, run)
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return Ended(f"raised {text}", None, [], True, run)
    data = None if outcome.data in (None, b"null") else outcome.data
    return Ended("answered", data, outcome.errors, outcome.started, run)


_NOT_ENCODED = ("is not JSON serializable", "keys must be str")
"""Parts of the errors for a custom scalar's value that JSON can't represent. The engine encodes
each value when it is completed. The reference encodes the whole response, if it is not null."""


async def leftovers() -> list[str]:
    """Cancel the tasks that are still waiting when the event loop has nothing more to do. Returns
    the names of their coroutines."""
    me = asyncio.current_task()
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    found: list[str] = []
    while True:
        await asyncio.sleep(0)
        while ready:  # noqa: ASYNC110
            await asyncio.sleep(0)
        others = [task for task in asyncio.all_tasks() if task is not me]
        if not others:
            return found
        found += [getattr(task.get_coro(), "__qualname__", "?") for task in others]
        for task in others:  # these may start further tasks when they end
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def complaints() -> Iterator[list[str]]:
    """Collect the warnings of Python and asyncio in the block, about coroutines that were never
    awaited and errors that were never retrieved."""
    found: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: found.append(str(context["message"])))
    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = lambda message, *_, **__: found.append(str(message))
        yield found
    loop.set_exception_handler(None)


@contextmanager
def left_to_python() -> Iterator[set[str]]:
    """Record whether compiled code leaves unusual values of leaves to Python in the block."""
    found: set[str] = set()
    complete = resolution._complete_unusual

    def completed(*given: Any) -> None:
        found.add("unusual leaves")
        complete(*given)

    with patch.object(resolution, "_complete_unusual", completed):
        yield found


async def compare(place: Place, case: Case) -> set[str]:
    """Run a case with both executors. Returns the classes of features that the case had. Raises
    Difference or Undecided."""
    name = case.operation.name
    if case.mode == "rogue":
        # An error elsewhere may make a parent null, which cancels a resolver before it cancels its
        # own task. Such a case runs without self-cancellation.
        free = await ended(
            place.reference.compile(case.document, name),
            place.run(trouble=0, shielded=True),
            case,
        )
        await leftovers()
        if free.errors:
            case.mode = ""
    options: dict[str, Any] = {
        "hang": case.mode in ("cancelled", "timed out"),
        "rogue": case.mode == "rogue",
        "cut": case.cut,
    }
    reference = await ended(
        place.reference.compile(case.document, name), place.run(shielded=True, **options), case
    )
    left_by_reference = Counter(await leftovers())
    if reference.how.startswith("raised"):
        if any(said in reference.how for said in _NOT_ENCODED):
            return {"not to be encoded"}
        raise Difference(f"graphql-core itself {reference.how}")
    itself = isinstance(place.engine, ReferenceEngine)
    with complaints() as found, left_to_python() as left_over:
        plan = place.engine.compile(case.document, name)
        if plan.fallback is not None:
            raise Difference(f"fell back: {plan.fallback}")
        fallbacks = getattr(place.engine, "fallbacks", None)
        run = place.run(mute=fallbacks is not None, shielded=itself, **options)
        mine = await ended(plan, run, case)
        # whether the engine gave the operation to graphql-core, which leaves resolvers waiting
        by_core = fallbacks != getattr(place.engine, "fallbacks", None)
        if by_core:
            mine = await ended(plan, place.run(shielded=True, **options), case)
        left = await leftovers()
    # graphql-core's tasks of an earlier run don't count.
    if any(each.startswith("Executor.") for each in left):
        left = []
    if reference.run.was_cut and reference.how != "cancelled":
        return {"a resolver took the cancellation"}
    if mine.run.was_cut and mine.how != "cancelled":
        raise Difference(f"{mine.how}, though it was cancelled")
    if mine.run.was_cut != reference.run.was_cut:
        return {"cut off in one of two"}  # a resolver that is not needed may be cancelled earlier
    if mine.run.gone_on and not reference.run.gone_on:
        raise Difference(f"{mine.run.gone_on} resolvers went on after the cancellation")
    if mine.how != reference.how:
        raise Difference(f"{mine.how}, but graphql-core {reference.how}")
    # graphql-core leaves tasks behind, too, and not the same tasks in each run.
    if Counter(left) - left_by_reference and not itself:
        raise Difference(f"left behind: {left}, by graphql-core: {left_by_reference}")
    if mine.hanging and case.mode != "rogue" and not (left or by_core or itself):
        raise Difference(
            f"{mine.hanging} resolvers of {mine.run.hung} were still waiting at the end"
        )
    if not same_data(mine.data, reference.data):
        raise Difference(f"data\n  {mine.data!r}, but graphql-core\n  {reference.data!r}")
    if mine.started != reference.started:
        raise Difference(f"started is {mine.started}")
    if mine.run.trace != reference.run.trace and not mine.run.was_cut:
        raise Difference(f"effects {mine.run.trace}, but graphql-core {reference.run.trace}")
    seen = reference.run.seen | mine.run.seen | case.operation.features | left_over
    seen.add("decorated" if place.world.decorated else "plain")
    if case.mode and mine.how != "answered":
        seen.add({"rogue": "self-cancelled", "cut": "cut off"}.get(case.mode, mine.how))
    elif not reference.started:
        seen.add("refused for wrong variables")
    if reference.errors or mine.errors:
        seen |= await _same_errors(place, case, reference, mine, options)
    if found and (found := await _neglected(place, case, options)):
        raise Undecided(f"asyncio or Python complains: {found}")
    return seen


def same_data(mine: bytes | None, reference: bytes | None) -> bool:
    """Whether two texts are the same bytes, or, if orjson can't write it, the same JSON."""
    if isinstance(reference, SpelledOut) and mine is not None:
        pairs: Any = {"object_pairs_hook": list}
        return bool(json.loads(mine, **pairs) == json.loads(reference, **pairs))
    return mine == reference


async def _neglected(place: Place, case: Case, options: dict[str, Any]) -> list[str]:
    """Run both executors again. Returns the engine's warnings if graphql-core's run has none."""
    both = []
    for engine in (place.reference, place.engine):
        shielded = engine is place.reference
        gc.collect()
        with complaints() as found:
            await ended(
                engine.compile(case.document, case.operation.name),
                place.run(shielded=shielded, **options),
                case,
            )
            await leftovers()
            gc.collect()
        both.append(found)
    return [] if both[0] else both[1]


async def _same_errors(
    place: Place, case: Case, reference: Ended, mine: Ended, options: dict[str, Any]
) -> set[str]:
    wanted = Counter(map(identity, reference.errors))
    got = Counter(map(identity, mine.errors))
    seen = {"errors"}
    if len(reference.errors) > 1:
        seen.add("several errors")
    if reference.data is None and reference.started:
        seen.add("the whole response nulled")
    if any(_propagated(place, error) for error in reference.errors):
        seen.add("null propagation")
        if any(isinstance(key, int) for error in reference.errors for key in error.path or ()):
            seen.add("null propagation through lists")
    if wanted == got:
        return seen
    if not reference.started:
        raise Difference(f"errors {sorted(got, key=repr)}, but graphql-core {list(wanted)}")
    kept = place.run(shielded=True, **options)
    kept.gives_up = True
    possible = await possible_errors(
        place.schema,
        case.document,
        case.operation.name,
        case.variables,
        kept,
        None,
    )
    await leftovers()
    if complaint := possible.complaint(reference.errors):
        raise Undecided(f"the oracle is wrong about graphql-core: {complaint}")
    encoded = [e for e in mine.errors if not any(said in e.message for said in _NOT_ENCODED)]
    if complaint := possible.complaint(encoded):
        raise Difference(
            f"errors: {complaint}\n  {sorted(got, key=repr)}\n  graphql-core:"
            f" {sorted(wanted, key=repr)}"
        )
    seen.add("other errors under a nulled parent")
    return seen


def _propagated(place: Place, error: Any) -> bool:
    return "non-nullable" in error.message or (error.path is not None and len(error.path) > 1)

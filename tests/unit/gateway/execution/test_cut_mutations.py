"""A mutation whose deadline passes returns the fields that are done, and begins no other field."""

import asyncio
from typing import Any

import orjson
import pytest
from graphql import GraphQLSchema, build_schema, parse

from gateway.execution.compile.engine import Engine, Outcome
from gateway.execution.tasks.deadlines import Deadlines

pytestmark = pytest.mark.anyio
DEADLINES = Deadlines(60)
NULLABLE = build_schema(
    "type Query { slow: Count } type Mutation { quick: Count slow: Count never: Count }"
    " type Count { n: Int wrong: Int ever: Int }"
)
NOT_NULL = build_schema("type Query { slow: Int } type Mutation { quick: Int! slow: Int! }")


def time_is_up() -> None:
    (deadline,) = DEADLINES.running
    deadline.expire()


class Root:
    """The root value. The deadline passes while `slow` is running. `begun` records the resolvers
    that began."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    async def quick(self, _: Any) -> Any:
        self.begun.append("quick")
        return {"n": 1, "wrong": "no number"}

    async def slow(self, _: Any) -> Any:
        self.begun.append("slow")
        time_is_up()
        await asyncio.Event().wait()

    async def never(self, _: Any) -> Any:
        self.begun.append("never")


async def hang(_: Any) -> None:
    time_is_up()
    await asyncio.Event().wait()


async def run(query: str, root: Any, schema: GraphQLSchema = NULLABLE) -> Outcome:
    with DEADLINES.begin() as deadline:
        return await Engine(schema).compile(parse(query)).run(root=root, deadline=deadline)


def shown(outcome: Outcome) -> tuple[Any, list[Any]]:
    errors = [(error.path, str(error.extensions.get("code"))) for error in outcome.errors or ()]
    return orjson.loads(outcome.data or b"0"), errors


async def test_fields_that_are_done_are_returned_and_no_other_field_begins() -> None:
    root = Root()
    outcome = await run(
        "mutation { quick { n wrong } slow { n } a: never { n } never { n } }", root
    )
    assert root.begun == ["quick", "slow"]
    assert shown(outcome) == (
        {"quick": {"n": 1, "wrong": None}, "slow": None, "a": None, "never": None},
        [
            (["quick", "wrong"], "None"),
            *((["slow"], "TIMEOUT"), (["a"], "TIMEOUT"), (["never"], "TIMEOUT")),
        ],
    )
    _, cut, *not_begun = [error.message for error in outcome.errors]
    assert "may be done or not" in cut
    assert all("was not begun" in message for message in not_begun)


async def test_a_root_field_that_is_cut_below_is_null_with_one_error() -> None:
    class Below(Root):
        async def quick(self, _: Any) -> Any:
            self.begun.append("quick")
            return {"n": "no number", "ever": hang}

    root = Below()
    outcome = await run("mutation { quick { n ever } never { n } }", root)
    assert root.begun == ["quick"]
    errors = [(["quick"], "TIMEOUT"), (["never"], "TIMEOUT")]
    assert shown(outcome) == ({"quick": None, "never": None}, errors)


async def test_a_cut_non_null_field_makes_the_data_null() -> None:
    class Numbers(Root):
        async def quick(self, _: Any) -> int:
            return 1

    outcome = await run("mutation { quick slow }", Numbers(), NOT_NULL)
    assert shown(outcome) == (None, [(["slow"], "TIMEOUT")])


async def test_a_query_that_is_cut_raises_timeout_error() -> None:
    with pytest.raises(TimeoutError):
        await run("{ slow { n } }", Root())


async def test_a_mutation_that_is_also_cancelled_from_outside_stays_cancelled() -> None:
    task: asyncio.Task[Outcome]

    class Left(Root):
        async def slow(self, _: Any) -> Any:
            time_is_up()
            task.cancel()
            await asyncio.Event().wait()

    task = asyncio.create_task(run("mutation { slow { n } }", Left()))
    with pytest.raises(asyncio.CancelledError):
        await task

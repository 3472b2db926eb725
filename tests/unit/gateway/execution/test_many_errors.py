"""A response has a bounded number of errors, and one more that counts all other errors. Each field
that failed is null, whether its error is shown or not."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from graphql import GraphQLError, GraphQLSchema, parse

from datasources.errors import BadInput, StoreUnavailable
from gateway.execution.client_errors import MESSAGE, shown
from gateway.execution.compile.engine import Engine, Outcome
from gateway.execution.levels import failures
from gateway.execution.levels.failures import MOST_ERRORS
from gateway.execution.levels.slices import SLICE
from gateway.execution.tasks.deadlines import Deadlines
from gateway.settings import Limits, Settings
from gateway.site.executors import executor_of
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.execution.slicing import in_slices
from tests.loop_turns import other_task
from tests.unit.gateway.execution.engines import theirs

pytestmark = pytest.mark.anyio
PARENTS = 400


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Wrong(Exception):
    """An error without attributes of its own."""


def fails(error: Callable[[], Exception]) -> Any:
    def resolve(self: Any) -> int | None:
        raise error()

    return resolve


@bulk
async def friends(_: Any, rows: Any) -> Any:
    raise BadInput("no friends", "first")


@strawberry.type
class Row:
    n: int
    own: int | None = strawberry.field(resolver=fails(lambda: BadInput("wrong", "n")))
    located: int | None = strawberry.field(resolver=fails(lambda: GraphQLError("wrong")))
    plain: int | None = strawberry.field(resolver=fails(lambda: Wrong("wrong")))
    store: int | None = strawberry.field(resolver=fails(lambda: StoreUnavailable("MySQL1: gone")))
    required: int = strawberry.field(resolver=fails(lambda: Wrong("wrong")))
    friends: list["Row"] | None = field_of(friends, "Theirs.")


def made(count: int) -> list[Row]:
    return [Row(n=n) for n in range(count)]  # type: ignore[call-arg]


@strawberry.type
class Query:
    @strawberry.field
    def rows(self, count: int = PARENTS) -> list[Row]:
        return made(count)

    @strawberry.field
    def nullable(self, count: int = PARENTS) -> list[Row | None]:
        return list(made(count))

    @strawberry.field
    def long(self) -> int | None:
        raise BadInput("x" * 10_000)


@strawberry.type
class Mutation:
    @strawberry.mutation
    def rows(self, count: int = PARENTS) -> list[Row]:
        return made(count)


SCHEMA = strawberry.Schema(Query, Mutation)
FIELDS = {name: f"{{ rows {{ n {name} }} }}" for name in ("own", "located", "plain", "store")} | {
    "friends": "{ rows { n friends { n } } }",
    "aliases": "{ rows { n a: own b: own c: located d: plain e: friends { n } } }",
    "non-null": "{ nullable { n required } }",
    "propagated": "{ rows { n required } }",
    "merged": "{ rows { n own own ...F } } fragment F on Row { own }",
    "several lists": "{ rows(count: 20) { own } a: rows(count: 20) { plain } b: nullable { n own }"
    " }",
}


async def run(engine: Engine, query: str) -> Outcome:
    return await engine.compile(parse(query)).run(context=SimpleNamespace(fault=None))


@pytest.mark.parametrize("query", FIELDS.values(), ids=FIELDS)
async def test_the_first_errors_are_shown_and_all_others_are_counted(query: str) -> None:
    schema: GraphQLSchema = SCHEMA._schema
    whole = await run(Engine(schema, most_errors=10**9), query)
    bounded = await run(Engine(schema), query)
    assert bounded.data == whole.data
    assert not whole.left_out
    count = len(whole.errors) - MOST_ERRORS
    if count <= 0:
        assert [str(error) for error in bounded.errors] == [str(error) for error in whole.errors]
        return
    *first, last = bounded.errors
    assert [e.formatted for e in first] == [e.formatted for e in whole.errors[:MOST_ERRORS]]
    assert last.extensions == {"code": "TOO_MANY_ERRORS", "leftOut": count}
    assert last.path is None
    assert f"{count:,}" in last.message
    assert len(bounded.left_out) == count


async def test_no_error_is_made_for_fields_that_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, located = 0, failures.located

    def counted(*given: Any) -> GraphQLError:
        nonlocal count
        count += 1
        return located(*given)

    monkeypatch.setattr(failures, "located", counted)
    await run(Engine(SCHEMA._schema), FIELDS["aliases"])
    assert count == MOST_ERRORS


async def test_one_error_more_is_counted_in_words() -> None:
    outcome = await run(Engine(SCHEMA._schema, most_errors=2), "{ rows(count: 3) { own } }")
    assert outcome.errors[-1].message.startswith("One more error is left out")


async def test_graphql_core_has_the_same_bound() -> None:
    engine = Engine(SCHEMA._schema)
    plan = engine.compile(parse("{ rows { n own } }"))
    plan.fallback = "a test"
    outcome = await plan.run(context=SimpleNamespace(fault=None))
    result = await theirs(SCHEMA._schema, "{ rows { n own } }")
    assert orjson.loads(outcome.data or b"") == result.data
    assert len(outcome.errors) == MOST_ERRORS + 1
    assert outcome.errors[-1].extensions["leftOut"] == PARENTS - MOST_ERRORS


async def test_a_step_that_runs_again_forgets_what_was_left_out() -> None:
    runs = iter((True, True, False))
    plan = Engine(SCHEMA._schema).compile(parse("{ rows { n own } }"))
    outcome = await plan.run(context=SimpleNamespace(fault=None), again=lambda: next(runs))
    assert len(outcome.errors) == MOST_ERRORS + 1
    assert outcome.errors[-1].extensions["leftOut"] == PARENTS - MOST_ERRORS


async def test_each_step_of_a_mutation_adds_to_the_errors() -> None:
    outcome = await run(Engine(SCHEMA._schema), "mutation { rows { own } a: rows { own } }")
    assert outcome.errors[-1].extensions["leftOut"] == 2 * PARENTS - MOST_ERRORS


async def answered(query: str, **limits: Any) -> dict[str, Any]:
    context: Any = SimpleNamespace(again=None, fault=None)
    result = await executor_of(SCHEMA, Settings(limits=Limits(max_cost=0, **limits))).run(
        query, None, None, context
    )
    answer: dict[str, Any] = orjson.loads(result.body())
    assert result.codes == [error["extensions"]["code"] for error in answer.get("errors", ())]
    return answer


async def test_errors_that_are_left_out_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pinway"):
        answer = await answered("{ rows { own } a: rows { store } b: rows { store } }")
    assert len(answer["errors"]) == MOST_ERRORS + 1
    [record] = caplog.records
    assert record.getMessage() == (
        f"MySQL1: gone (at response path left out of the response and {2 * PARENTS - 1} more)"
    )


async def test_errors_count_as_bytes_of_the_response() -> None:
    small = await answered("{ rows { own } }", max_response_bytes=20_000)
    assert len(small["errors"]) == MOST_ERRORS + 1
    data = len(orjson.dumps(small["data"]))
    errors = len(orjson.dumps(small["errors"]))
    whole = await answered("{ rows { own } }", max_response_bytes=data + errors)
    assert whole["data"] == small["data"]
    [error] = (await answered("{ rows { own } }", max_response_bytes=data + errors - 1))["errors"]
    assert error["extensions"]["code"] == "RESPONSE_TOO_LARGE"
    assert error["extensions"]["bound"] == data + errors - 1


async def test_a_long_message_is_cut() -> None:
    [error] = (await answered("{ long }"))["errors"]
    assert error["message"] == "x" * MESSAGE + "..."
    [error] = shown(GraphQLError("y" * MESSAGE))
    assert error["message"] == "y" * MESSAGE


async def test_the_deadline_ends_the_writing_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    in_slices(monkeypatch, budget=0.0)  # a rest after each slice
    plan = Engine(SCHEMA._schema).compile(parse("{ rows(count: 1000) { own a: own } }"))
    deadlines, located, written = Deadlines(60.0), failures.located, 0

    def late(*given: Any) -> GraphQLError:
        nonlocal written
        written += 1
        if written == 1:
            [deadline] = deadlines.running
            deadline.expire()
        return located(*given)

    monkeypatch.setattr(failures, "located", late)
    with pytest.raises(TimeoutError), deadlines.begin() as deadline:
        await plan.run(context=SimpleNamespace(fault=None), deadline=deadline)
    assert written == MOST_ERRORS  # of the first slice


async def test_other_tasks_run_while_errors_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    in_slices(monkeypatch, budget=0.0)
    async with other_task() as other:
        await answered("{ rows(count: 20000) { own a: own } }")
    # a turn for each slice of objects and values, of failures, and of left out exceptions
    assert other.turns > 3 * 40_000 / SLICE

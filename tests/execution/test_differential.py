"""Generated cases, answered by the engine as by graphql-core.

`python -m tests.execution.differential --cases 1000000` runs as many more as one likes.
"""

import asyncio
from random import Random
from typing import Any

import pytest
from graphql import GraphQLError, build_schema, parse, validate
from hypothesis import HealthCheck, note
from hypothesis import strategies as st

from gateway.execution.model.lines import LOCATIONS
from loaders.compiled import WANTED
from tests.execution.comparing import Difference, compare, new_case, new_engine, settled
from tests.execution.differential import FEATURES, Report, cutting, run, show
from tests.execution.drawing import Draw, Seeded
from tests.execution.reference import ReferenceEngine, identity, possible_errors
from tests.execution.slicing import in_slices
from tests.generated import given, settings
from tests.scale import runs_all, scaled, seed

CASES = scaled(250, 2000)
_reports: list[Report] = []


@pytest.mark.parametrize("part", range(3))
def test_the_engine_answers_as_graphql_core_does(part: int) -> None:
    report = run(CASES, seed(f"fixed-{part}"))
    assert not report.failures, str(report.failures[0])
    assert not report.undecided, str(report.undecided[0])
    _reports.append(report)


@pytest.mark.parametrize("budget", [-1.0, 1.0], ids=["with rests", "without rests"])
def test_slices_of_one_value_give_the_same_response(
    budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every column and group of two is a large one, worked off by itself."""
    in_slices(monkeypatch, size=1, budget=budget)
    report = run(CASES // 2, seed(f"slices-{budget}"), most=1)
    assert not report.failures, str(report.failures[0])


# A cancelled case may lose coroutines that its own resolvers have made.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cancellation_reaches_all_resolvers_in_its_turn() -> None:
    with cutting():
        report = run(2 * CASES, seed("cut"))
    assert not report.failures, str(report.failures[0])
    assert report.seen["several cut off together"] > report.cases / 30


def test_each_class_of_features_has_its_share_of_the_cases() -> None:
    if not _reports:  # run on its own
        _reports.append(run(2_000, "fixed-0", most=2_000))
    cases = sum(report.cases for report in _reports)
    shares = {name: sum(r.seen[name] for r in _reports) / cases for name in FEATURES}
    if not WANTED:
        del shares["unusual leaves"]  # of compiled code only
    assert not {name: share for name, share in shares.items() if share < scaled(0.005, 0.01)}


@settings(
    max_examples=scaled(10, 40),
    deadline=None,
    derandomize=not runs_all(),
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(source=st.randoms(use_true_random=False))
def test_hypothesis_finds_no_difference(source: Random) -> None:
    """The same generator, with its choices made by hypothesis, which shrinks what fails."""
    draw = Draw(source)
    place = settled(draw, new_engine)
    case = new_case(draw, place)
    note(show(place, case))
    assert not validate(place.schema, case.document)
    with asyncio.Runner() as runner:
        runner.run(compare(place, case))


def test_generated_operations_are_valid() -> None:
    for world in range(scaled(5, 20)):
        place = settled(Seeded(f"valid-{world}"), ReferenceEngine)
        for n in range(15):
            case = new_case(Seeded(f"valid-{world}/{n}"), place)
            assert not validate(place.schema, case.document), case.operation.text


def test_graphql_core_agrees_with_itself_and_with_the_oracle() -> None:
    report = run(CASES // 4, seed("itself"), engine=ReferenceEngine)
    assert not report.failures, str(report.failures[0])
    checked = 0

    async def check(place: Any, case: Any) -> int:
        plan = place.reference.compile(case.document, case.operation.name)
        # In a task of its own: what it does to its context variables is no other run's business.
        outcome = await asyncio.ensure_future(
            plan.run(context=place.run(shielded=True), variables=case.variables)
        )
        if not outcome.started:
            return 0
        possible = await possible_errors(
            place.schema,
            case.document,
            case.operation.name,
            case.variables,
            place.run(shielded=True),
            None,
        )
        assert not possible.complaint(outcome.errors)
        if outcome.errors:
            assert possible.complaint([*outcome.errors, outcome.errors[0]])
            strange = GraphQLError("strange", path=outcome.errors[0].path)
            assert possible.complaint([*outcome.errors[1:], strange])
        return len(outcome.errors)

    with asyncio.Runner() as runner:
        for world in range(scaled(10, 30)):
            place = settled(Seeded(f"oracle-{world}"), ReferenceEngine)
            for n in range(20):
                case = new_case(Seeded(f"oracle-{world}/{n}"), place)
                if not case.mode:
                    checked += runner.run(check(place, case))
    assert checked > scaled(60, 200)


ORACLE = """type Query { a: Box b: String } type Box { x: String! y: String! z: String deep: Deep! }
  type Deep { x: String! z: String } type Mutation { m: Box! n: Box! }"""


@pytest.mark.parametrize(
    ("document", "sets"),
    [
        # Either of two that null the box; of the one beside it also none.
        ("{ a { x y z } }", [["x"], ["y"], ["x", "z"], ["y", "z"]]),
        ("{ a { z } }", [["z"]]),
        (
            "{ a { deep { x z } z } }",
            [["deep.x"], ["deep.x", "z"], ["deep.x", "deep.z", "z"], ["deep.x", "deep.z"]],
        ),
    ],
)
def test_the_oracle_allows_only_responses_that_graphql_core_could_give(
    document: str, sets: list[list[str]]
) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            if name == "deep":
                return Failing()
            raise ValueError(name) if name in ("x", "y", "z") else AttributeError(name)

    schema = build_schema(ORACLE)
    root = {"a": Failing()}
    possible = asyncio.run(possible_errors(schema, parse(document), None, None, None, root))
    by_path = {".".join(map(str, key[1][1:])): key for key in possible.places}  # type: ignore[index]

    def error(path: str) -> GraphQLError:
        return next(e for e in everything if identity(e) == by_path[path])

    everything = asyncio.run(_everything(schema, document, root))
    names = sorted(by_path)
    allowed = [sorted(chosen) for chosen in sets]
    for mask in range(1 << len(names)):
        chosen = [name for n, name in enumerate(names) if mask >> n & 1]
        complaint = possible.complaint([error(name) for name in chosen])
        assert (complaint == "") == (chosen in allowed), (chosen, complaint)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, 2, False),  # an error has the places of all merged fields
        (LOCATIONS - 1, LOCATIONS, False),
        (LOCATIONS, LOCATIONS + 1, True),  # graphql-core has more places than the engine gives
        (LOCATIONS, 30, True),
    ],
)
def test_errors_are_compared_by_their_first_locations(one: int, other: int, same: bool) -> None:
    document = parse(f"{{ {' '.join(['a'] * 30)} }}")
    [operation] = document.definitions
    nodes = list(operation.selection_set.selections)  # type: ignore[attr-defined]
    errors = [GraphQLError("wrong", nodes[:count], path=["a"]) for count in (one, other)]
    assert (identity(errors[0]) == identity(errors[1])) is same
    assert identity(errors[0]) != identity(GraphQLError("wrong", nodes[1 : one + 1], path=["a"]))
    assert identity(errors[0]) != identity(GraphQLError("wrong", nodes[:one], path=["b"]))
    assert identity(errors[0]) != identity(GraphQLError("other", nodes[:one], path=["a"]))


async def _everything(schema: Any, document: str, root: Any) -> list[GraphQLError]:
    from graphql import execute

    from tests.execution.reference import _Unpropagated

    result: Any = execute(schema, parse(document), root, executor_class=_Unpropagated)
    return list(result.errors)


def test_a_difference_is_found_and_reported() -> None:
    """The engine under test leaves out errors, or gives wrong data."""

    class Silent(ReferenceEngine):
        def compile(self, document: Any, operation_name: str | None = None) -> Any:
            plan = super().compile(document, operation_name)
            answer = plan.run

            async def run(**given: Any) -> Any:
                outcome = await answer(**given)
                return type(outcome)(outcome.data, outcome.errors[1:], outcome.started)

            plan.run = run  # type: ignore[method-assign]
            return plan

    report = run(400, "fixed-0", engine=Silent)
    assert "errors" in report.failures[0].message
    assert "--world fixed-0-" in str(report.failures[0])


__all__ = ["Difference"]

"""Operations that run on tables (package `levels`) have graphql-core's outcomes, whichever executor
the environment chooses."""

from functools import partial

import pytest

from tests.execution.comparing import new_engine
from tests.execution.differential import cutting, run
from tests.execution.slicing import in_slices
from tests.execution.test_differential import CASES
from tests.scale import seed

levels = partial(new_engine, levels=True)


@pytest.mark.parametrize("part", range(2))
def test_tables_give_graphql_cores_answers(part: int) -> None:
    report = run(CASES, seed(f"levels-{part}"), engine=levels)
    assert not report.failures, str(report.failures[0])
    assert not report.undecided, str(report.undecided[0])


@pytest.mark.parametrize("budget", [-1.0, 1.0], ids=["with rests", "without rests"])
def test_slices_of_one_value_give_the_same_response(
    budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_slices(monkeypatch, size=1, budget=budget)
    report = run(CASES // 2, seed(f"levels-slices-{budget}"), engine=levels)
    assert not report.failures, str(report.failures[0])


# A cancelled case may lose coroutines that its own resolvers have made.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cancellation_reaches_all_resolvers_in_its_turn() -> None:
    with cutting():
        report = run(CASES, seed("levels-cut"), engine=levels)
    assert not report.failures, str(report.failures[0])
    assert report.seen["several cut off together"] > report.cases / 30

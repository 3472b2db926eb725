"""How much of the random and of the long tests runs: a fair share in `make test`, with fixed seeds,
and all of it in `make test-all`, with a new seed that is printed."""

import os
from random import Random
from typing import TypeVar

import pytest

ALL, SEED = "PINWAY_TEST_ALL", "PINWAY_TEST_SEED"
"""Variables that `make test-all` sets for its tests."""
T = TypeVar("T")


def runs_all() -> bool:
    """Whether this is a run of everything."""
    return os.environ.get(ALL) == "1"


def scaled(share: T, everything: T) -> T:
    """The number (of cases, or other) that this run takes."""
    return everything if runs_all() else share


def nightly_unless(daily: bool) -> list[pytest.MarkDecorator]:
    """The marks of a parameter that `make test` takes, too, or leaves to `make test-all`."""
    return [] if daily else [pytest.mark.nightly]


def seed(fixed: str) -> str:
    """A seed by its name: the same in each `make test`, another one in each `make test-all`."""
    return f"{os.environ[SEED]}-{fixed}" if runs_all() and SEED in os.environ else fixed


def seeds(share: int, everything: int) -> range:
    """Seeds that are numbers: as many as this run takes, the first of them chosen as by `seed`."""
    first = Random(os.environ[SEED]).randrange(10**9) if runs_all() and SEED in os.environ else 0
    return range(first, first + scaled(share, everything))

"""The mark of tests that run with graphql-core and with the engine."""

from collections.abc import Callable
from typing import Any

import pytest
from graphql import build_schema, parse

from tests.execution.comparing import new_engine
from tests.execution.reference import ReferenceEngine

ENGINES: list[Callable[[Any], Any]] = [ReferenceEngine, lambda schema: new_engine(schema)]
both = pytest.mark.parametrize("engine", ENGINES, ids=["graphql-core", "engine"])


def plan_of(engine: Callable[[Any], Any], sdl: str, query: str) -> Any:
    plan = engine(build_schema(sdl)).compile(parse(query), None)
    assert plan.fallback is None
    return plan

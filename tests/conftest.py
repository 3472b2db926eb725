"""The fixtures that every test may use: the event loop, the real servers, and a gateway with demo
content."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests import lanes
from tests.overdue import pytest_pyfunc_call
from tests.servers import caches, clusters, databases, empty_stack, stack
from tests.serving import Serving, serving

__all__ = [
    "anyio_backend",
    "caches",
    "clusters",
    "databases",
    "empty_stack",
    "pytest_pyfunc_call",
    "stack",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """When several workers run the tests, begin with the slow tests."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        lanes.sort(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> lanes.Lanes | None:
    """Decide which tests stay together on one worker."""
    return lanes.Lanes(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on plain asyncio."""
    return ("asyncio", {"use_uvloop": False})


@pytest.fixture(scope="session")
def demo_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """`pinway run`: a process with embedded stores and demo content. Tests that write create their
    own objects."""
    with serving(tmp_path_factory.mktemp("demo") / "data") as served:
        yield served


@pytest.fixture(scope="session")
def gateway_url(demo_gateway: Serving) -> str:
    return demo_gateway.url


@pytest.fixture(scope="session")
def demo_token(demo_gateway: Serving) -> str:
    return demo_gateway.token

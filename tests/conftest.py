"""The fixtures that every test may use: the event loop, the real servers, and a gateway with demo
content."""

import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from httpx import create_ssl_context

from tests.demo import copy_demo, filled_demo
from tests.ended_tests import pytest_pyfunc_call
from tests.pinway_process import Serving, serving
from tests.scale import runs_all
from tests.servers import caches, clusters, databases, empty_stack, engines, stack

__all__ = [
    "anyio_backend",
    "caches",
    "clusters",
    "databases",
    "empty_stack",
    "engines",
    "filled_demo",
    "pytest_pyfunc_call",
    "stack",
]


gc.set_threshold(100_000, 50, 1_000)  # the collected tests stay, and each pass would visit them
pytest.MonkeyPatch().setattr(
    "httpx._transports.default.create_ssl_context", cache(create_ssl_context)
)  # each client of httpx would read all certificates again, which takes 20 ms
_unfreeze = gc.unfreeze
_unfrozen = False
"""Whether the collected tests are included in the collector's passes again."""


def _unfreeze_and_note() -> None:
    global _unfrozen
    _unfreeze()
    _unfrozen = True


pytest.MonkeyPatch().setattr(gc, "unfreeze", _unfreeze_and_note)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what takes long to `make test-all`."""
    if not runs_all():
        left = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_collection_finish() -> None:
    """Exclude the collected tests and their imports from the collector's passes: a pass over them
    takes a third of a second, and a gateway's start makes two."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _collected_tests_stay_frozen() -> None:
    """A gateway that ends in this process unfreezes all objects. `gc.get_freeze_count` would tell
    it, too, but visits each frozen object: that takes 50 ms."""
    global _unfrozen
    if _unfrozen:
        gc.freeze()
        _unfrozen = False


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on uvloop's event loop, as the gateway does."""
    return ("asyncio", {"use_uvloop": True})


@pytest.fixture(scope="session")
def demo_gateway(filled_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """`pinway run`: a process with embedded stores and demo content. Tests that write create their
    own objects."""
    data = copy_demo(filled_demo, tmp_path_factory.mktemp("demo") / "data")
    with serving(data) as served:
        yield served


@pytest.fixture(scope="session")
def gateway_url(demo_gateway: Serving) -> str:
    return demo_gateway.url


@pytest.fixture(scope="session")
def demo_token(demo_gateway: Serving) -> str:
    return demo_gateway.token

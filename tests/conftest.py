"""What every test may use: the event loop, and the real servers (`tests/servers.py`)."""

import pytest

from tests.servers import stack

__all__ = ["anyio_backend", "stack"]


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async tests run on plain asyncio."""
    return ("asyncio", {"use_uvloop": False})

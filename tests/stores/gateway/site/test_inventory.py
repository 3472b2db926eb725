"""The list of created data."""

import asyncio
import contextlib
import gc
import warnings
from pathlib import Path

import pytest

from datasources.valkey import ValkeyServer
from gateway.site import inventory
from tests.embedded_stores import embedded_config, embedded_stores

pytestmark = pytest.mark.anyio


async def test_a_stop_before_a_check_asked_the_first_store_leaves_no_warning(
    tmp_path: Path,
) -> None:
    """Python warns of a coroutine that was made and never awaited."""
    async with ValkeyServer(tmp_path) as valkey:
        config = embedded_config(tmp_path, valkey)
        async with embedded_stores(config) as stores:
            gc.collect()  # what earlier tests left must not warn below
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                asked = asyncio.ensure_future(inventory._tables(config, stores))
                await asyncio.sleep(0)  # the sides' tasks exist, and have not begun
                asked.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asked
                del asked
                gc.collect()
            assert [str(warning.message) for warning in told] == []
            assert None not in (await inventory._tables(config, stores)).values()

"""The watchdog of the tests of the executor."""

from collections.abc import Iterator

import pytest

from tests.execution.watchdog import watched


@pytest.fixture(autouse=True)
def _watchdog() -> Iterator[None]:
    """A run that hangs fails its test at once."""
    with pytest.MonkeyPatch.context() as patch:
        watched(patch)
        yield

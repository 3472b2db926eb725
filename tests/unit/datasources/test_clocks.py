"""A right and its end are measured by a clock that goes on while the host is suspended."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from datasources.clocks import lease_seconds
from datasources.errors import StoreConflict
from datasources.opensearch.connection import Connection
from datasources.opensearch.lease import Lease

SUSPENDED = 3600.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The host's clocks: `time.monotonic` stands still while it is `suspended`."""
    host = SimpleNamespace(suspended=0.0)

    def clock_gettime(clock: int) -> float:
        assert clock == time.CLOCK_BOOTTIME
        return 1000.0 + float(host.suspended)

    monkeypatch.setattr(time, "clock_gettime", clock_gettime)
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    return host


class _Documents:
    """A connection to an index with one document: the right was given back."""

    async def get(self, path: str, deadline: float) -> Any:
        source = {"holder": "", "term": 1, "seconds": 10.0}
        return SimpleNamespace(
            is_missing=False, document={"_source": source, "_seq_no": 1, "_primary_term": 1}
        )

    async def ask(self, method: str, path: str, *_: object) -> Any:
        return SimpleNamespace(document={"_seq_no": 2, "_primary_term": 1})


def test_the_clock_goes_on_while_the_host_is_suspended(clock: SimpleNamespace) -> None:
    before = lease_seconds()
    clock.suspended = SUSPENDED
    assert lease_seconds() - before == SUSPENDED


@pytest.mark.anyio
async def test_a_right_to_an_index_ends_while_its_holder_is_suspended(
    clock: SimpleNamespace,
) -> None:
    lease = Lease(cast(Connection, _Documents()), "locks", "pins", "another has it", SUSPENDED / 2)
    async with lease.held():
        lease.check()
        clock.suspended = SUSPENDED
        with pytest.raises(StoreConflict, match="another has it"):
            lease.check()

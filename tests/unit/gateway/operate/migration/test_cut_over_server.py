"""A cut-over asks, while writes are refused, whether the source is the server that was followed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from datasources.errors import ConfigError
from datasources.sql.source_tables import LogPosition
from gateway.operate.migration.cut_over import cut_over
from gateway.operate.migration.following import Follower, Round
from gateway.operate.migration.journal import Journal

END = LogPosition("binlog.000007", 157)


class _Stop:
    """A source that refuses writes."""

    kept = False

    async def position(self) -> LogPosition:
        return END

    async def keep(self) -> None:
        self.kept = True


class _Moved:
    """A follower over a connection that is open, to a server in whose place another one came."""

    def __init__(self) -> None:
        self.stop, self.is_stopped = _Stop(), False

    async def round(self, step: object) -> Round:
        return Round(0, 0.0, END, END)

    async def check_server(self) -> None:
        assert self.is_stopped
        raise ConfigError("another server")

    async def waits(self) -> str:
        return ""

    @asynccontextmanager
    async def source_stopped(self, within: float) -> AsyncIterator[_Stop]:
        self.is_stopped = True
        try:
            yield self.stop
        finally:
            self.is_stopped = False


@pytest.mark.anyio
async def test_another_server_in_the_source_s_place_ends_the_cut_over() -> None:
    follower = _Moved()
    with pytest.raises(ConfigError, match="another server"):
        await cut_over(cast(Follower, follower), cast(Journal, None), within=60, then="exit 1")
    assert not follower.is_stopped
    assert not follower.stop.kept

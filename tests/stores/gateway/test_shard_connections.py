"""The connections that gateways may open to shard servers, compared with the servers' limits."""

import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from datasources.protocols import Stores
from gateway.operate import doctor
from gateway.operate.connections import OTHERS, shortages, wanted, warn_of_shortages
from gateway.settings import Http, MySql, Settings
from tests.faulty import with_part
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio
SIXTEEN = Settings(mysql=MySql(processes=16, connections=32))


def allowing(stores: Stores, limits: Mapping[str, int]) -> Stores:
    """The stores, whose shard servers have these limits."""

    async def connection_limits() -> Mapping[str, int]:
        return limits

    return with_part(stores, "connection_limits", connection_limits)


def test_each_worker_counts_unless_the_processes_of_all_hosts_are_given() -> None:
    assert wanted(Settings(http=Http(workers=4), mysql=MySql(connections=32))) == 4 * 33
    assert (
        wanted(Settings(http=Http(workers=4), mysql=MySql(processes=10, connections=32))) == 10 * 33
    )


def test_a_server_is_short_when_no_connection_would_be_left_for_others() -> None:
    enough = wanted(SIXTEEN) + OTHERS
    assert shortages(SIXTEEN, {"A": enough}) == {}
    found = shortages(SIXTEEN, {"A": enough - 1, "B": enough})
    assert found == {
        "A": "16 processes with up to 32 connections, and 16 of others, need 544; "
        "max_connections is 543"
    }


async def test_doctor_and_a_gateway_that_starts_tell_of_servers_that_allow_too_few(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = {"A": 1_000, "B": 500, "C": 400}
    async with embedded_gateway(tmp_path) as gateway:
        stores = allowing(gateway.stores, limits)
        found = {f.check: f for f in await doctor.of_stores(SIXTEEN, stores)}
        assert found["connections A"].state == doctor.OK
        assert found["connections B"].state == found["connections C"].state == doctor.WARNING
        assert "lower mysql.connections (32)" in found["connections B"].advice
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            await warn_of_shortages(Settings(http=Http(workers=4)), stores)
            assert caplog.messages == []
            await warn_of_shortages(SIXTEEN, stores)
        [line] = caplog.messages
        assert line.startswith("shard server B (and 1 other servers): 16 processes with up to 32")

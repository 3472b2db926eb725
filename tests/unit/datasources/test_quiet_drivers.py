"""Drivers log nothing of an outage, which Pinway logs once."""

import logging
from importlib import import_module

import pytest

from gateway.observe.logs import start_logging
from gateway.settings import Settings


@pytest.mark.parametrize(
    ("store", "driver", "level"),
    [
        ("datasources.zookeeper.client", "kazoo.client", logging.WARNING),
        ("datasources.streaq", "coredis", logging.ERROR),
    ],
)
def test_the_log_of_a_gateway_leaves_a_driver_quiet(store: str, driver: str, level: int) -> None:
    import_module(store)
    root = logging.getLogger()
    before = list(root.handlers), root.level
    try:
        start_logging(Settings())
        assert not logging.getLogger(driver).isEnabledFor(level)
    finally:
        root.handlers[:], level_before = before
        root.setLevel(level_before)

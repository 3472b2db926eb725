"""Refused documents, requests and connections are counted."""

import pytest
from prometheus_client import generate_latest

from gateway.observe.metrics import ConnectionCollector, ExecutorCollector, new_registry
from gateway.server.process import Server
from gateway.settings import Http, Settings
from gateway.site.executors import new_executor
from tests.unit.gateway.server.apps import App, Clock
from tests.unit.gateway.server.test_bounds import connect

pytestmark = pytest.mark.anyio


async def test_refused_documents_are_counted() -> None:
    executor = new_executor(Settings())
    registry = new_registry(ExecutorCollector(executor))
    for text in ("{", "{ viewer { nothing } }", "{ __typename }", "{" + "a " * 6_000):
        await executor.documents.read(text)
    assert b"pinway_executor_refused_total 3.0" in generate_latest(registry)


async def test_refused_requests_and_connections_are_counted_by_reason() -> None:
    server = Server(App(), Settings(http=Http(max_connections_per_client=1)))
    registry = new_registry(ConnectionCollector(server.connections))
    for _ in range(3):
        protocol, transport = connect(server, Clock(), "192.0.2.1")
        if not transport.closed:
            protocol.data_received(b"GET /" + b"u" * 20_000)
    text = generate_latest(registry)
    assert b'pinway_http_refused_total{reason="414"} 1.0' in text
    assert b'pinway_http_refused_total{reason="connections of the client"} 2.0' in text

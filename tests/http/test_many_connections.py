"""Idle connections don't keep an honest client out, even with few file descriptors."""

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gateway.server.descriptors import room_for
from tests.unit.gateway.server.apps import BODY, CLOSE, request

DESCRIPTORS = 1_024
IDLE = 1_500
SERVER = """
import asyncio, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, int(sys.argv[1])))
from gateway.server.loops import fast_loop
from gateway.server.process import Server
from tests.unit.gateway.server.apps import App

listener = socket.create_server(("127.0.0.1", 0))
server = Server(App(), on_ready=lambda: print(listener.getsockname()[1], flush=True))
with asyncio.Runner(loop_factory=fast_loop) as runner:
    runner.run(server.serve(sockets=[listener]))
"""


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server that may open few descriptors."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(DESCRIPTORS)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Allow as many file descriptors as this test's clients need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + len(os.listdir("/dev/fd")) + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), max(hard, wanted)))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def answer(client: socket.socket, *headers: str) -> bytes:
    """The response to one request; empty if the connection is closed."""
    client.sendall(request("/whole", *headers))
    found = b""
    while not found.endswith(BODY):
        if not (part := client.recv(65_536)):
            break
        found += part
    return found


def test_an_honest_client_is_answered_beside_idle_connections(port: int, descriptors: None) -> None:
    with ExitStack() as opened:

        def connect() -> socket.socket:
            return opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=300))

        honest = connect()
        assert b"200 OK" in answer(honest)
        for n in range(IDLE):
            idle = connect()
            if n % 3:
                idle.sendall(b"POST /whole HTTP/1.1\r\nhost:"[: n % 20])
            if n % 100 == 0:
                assert b"200 OK" in answer(connect(), CLOSE)
                assert b"200 OK" in answer(honest)
        assert b"200 OK" in answer(connect(), CLOSE)
        assert b"200 OK" in answer(honest)


def test_the_limit_of_descriptors_is_raised_as_far_as_needed() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        assert room_for(400)[0] == 400
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 1_400
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_too_few_descriptors_are_told_and_bound_the_connections(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1_024, 1_024))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: None)
    room, backlog = room_for(4_096)
    assert 100 < room + backlog < 1_024
    (line,) = caplog.messages
    assert f"1024 file descriptors leaves room for {room} connections, not 4096" in line

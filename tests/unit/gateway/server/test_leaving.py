"""A serving process that has closed everything waits for nothing more."""

import asyncio
import socket
import subprocess
import sys

import httpx
import pytest

from gateway.server.process import Server, _answering, _OperatorsServer
from tests.unit.gateway.server.apps import App, until

PROGRAM = """
import atexit, sys, types
from gateway import __main__
command = types.ModuleType("gateway.cli")
def main():
    import {module}
    atexit.register(print, "Python takes the process apart")
    print("everything is closed")
    sys.exit({status})
command.main = main
command.__path__ = __import__("gateway").__path__
sys.modules["gateway.cli"] = command
serving = types.ModuleType("gateway.cli.service")
if "{module}" == "gateway.cli.service":
    sys.modules["gateway.cli.service"] = serving
__main__.main()
"""


def ended(module: str, status: str) -> tuple[int, str]:
    """The status and the output of a process whose command imports the module and exits."""
    program = PROGRAM.format(module=module, status=status)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize("status", [0, 1])
def test_a_serving_process_is_not_taken_apart(status: int) -> None:
    assert ended("gateway.cli.service", str(status)) == (status, "everything is closed\n")


def test_another_command_ends_as_python_does() -> None:
    status, told = ended("json", "3")
    assert status == 3
    assert told == "everything is closed\nPython takes the process apart\n"


def test_a_message_instead_of_a_status_is_printed() -> None:
    assert ended("gateway.cli.service", "'why'")[0] == 1


@pytest.mark.anyio
async def test_both_servers_wait_at_the_same_time_for_their_connections() -> None:
    server, beside = Server(App()), _OperatorsServer(App())
    server.beside = beside
    with socket.create_server(("127.0.0.1", 0)) as public:
        operators = socket.create_server(("127.0.0.1", 0))
        async with _answering(operators, beside):
            serving = asyncio.create_task(server.serve(sockets=[public]))
            await until(lambda: server.started and beside.started)
            async with httpx.AsyncClient() as c:
                for listener in (public, operators):
                    url = f"http://127.0.0.1:{listener.getsockname()[1]}/whole"
                    assert (await c.post(url, content=b"{}")).status_code == 200
                server.should_exit = True
                while not beside.should_exit:
                    assert not serving.done()  # its connection is still open
                    await asyncio.sleep(0)
                await serving

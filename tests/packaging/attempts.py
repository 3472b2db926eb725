"""Runs Pinway, as installed in an environment, embedded in an empty directory."""

from pathlib import Path

from tests.packaging.builds import run
from tests.pinway_process import serving

HOME = "{ viewer { username } homeFeed(first: 3) { edges { node { image { url } } } } }"
FIRST = "from pinway.path import put_first; put_first(); "
WHICH = FIRST + (
    "import gateway.server.protocol, sys; print(*sorted(name for name, module in "
    "sys.modules.items() if str(getattr(module, '__file__', '')).endswith('.so') "
    "and name.startswith(('gateway.', 'loaders.'))))"
)
WORKERS = (
    FIRST
    + """
import asyncio, socket, sys
from pathlib import Path
from gateway.server.supervisor import supervise
from gateway.settings import Settings

async def ask_a_worker():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.TaskGroup() as group:
            settings = Settings(data_dir=Path(sys.argv[1]))
            workers = group.create_task(supervise(settings, listener))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            print((await reader.readline()).decode())
            writer.close()
            workers.cancel()

asyncio.run(ask_a_worker())
"""
)


def attempt(python: Path | str, folder: Path, *, compiled: bool) -> None:
    """Start `pinway run` with an interpreter whose environment has Pinway, with or without compiled
    code; ask it for the home feed; stop it. Raises AssertionError."""
    empty = folder / "empty"
    empty.mkdir()
    taken = run(str(python), "-c", WHICH, cwd=empty).split()
    assert bool(taken) is compiled, taken
    with serving(folder / "data", python=str(python), cwd=empty) as served:
        answer = served.ask(HOME)
        assert "errors" not in answer, answer
        assert len(answer["data"]["homeFeed"]["edges"]) == 3, answer
        assert served.stop() == 0
    assert not list(empty.iterdir())


def attempt_workers(python: Path | str, folder: Path) -> None:
    """Start a worker process, ask it for its health, and stop it. Raises AssertionError."""
    told = run(str(python), "-c", WORKERS, str(folder / "workers"), cwd=folder)
    assert told.startswith("HTTP/1.1 200"), told

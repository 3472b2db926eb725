"""The contenders, and the commands that start them."""

from collections.abc import Mapping
from pathlib import Path

from bench.execution.environment import MERCURIUS
from bench.execution.servers import Contender

STOCK, CACHED, MERCURIUS_JIT = "stock", "stock with caches", "Mercurius + JIT"
PLAIN, BULK, FLOOR = "ours, plain", "ours, bulk", "floor"
FIXED_TIME = "a fixed time a request"
REAL_OURS, REAL_STOCK = "ours, real path", "stock, real path"
SERVERS_OURS = "ours, real servers"


def uvicorn(python: Path, name: str, app: str, **environment: str) -> Contender:
    """A Python contender from bench/execution/apps, served in the usual way."""
    command = [
        *(str(python), "-m", "uvicorn", f"bench.execution.apps.{app}:app"),
        *("--port", "{port}", "--loop", "uvloop", "--http", "httptools"),
        *("--lifespan", "off", "--no-access-log", "--log-level", "warning"),
    ]
    return Contender(name, command, environment)


def served(python: Path, name: str, app: str, **environment: str) -> Contender:
    """A Python contender behind the gateway's own server."""
    command = [str(python), "-m", "bench.execution.apps.pinway_server", app, "{port}"]
    return Contender(name, command, environment)


def feed_contenders(python: Path, node: Path, data: Path) -> dict[str, Contender]:
    """The contenders that answer the home feed from memory. `data` is the data for contenders in
    other languages."""
    mercurius = Contender(
        MERCURIUS_JIT,
        [str(node), str(MERCURIUS / "server.js")],
        {"NODE_ENV": "production", "BENCH_PORT": "{port}", "BENCH_DATA": str(data)},
    )
    found = (
        uvicorn(python, STOCK, "stock"),
        uvicorn(python, CACHED, "stock", BENCH_CACHES="1"),
        mercurius,
        served(python, PLAIN, "ours"),
        served(python, BULK, "ours", BENCH_BULK="1"),
        served(python, FLOOR, "floor"),
    )
    return {each.name: each for each in found}


def real_contenders(python: Path, stores: Mapping[str, Path], page: str) -> dict[str, Contender]:
    """The contenders over embedded stores. Each has its own stores with the same content."""
    module = [str(python), "-m", "bench.execution.apps.real"]
    return {
        name: Contender(name, [*module, kind, str(stores[name]), "{port}", page], metered=True)
        for name, kind in ((REAL_OURS, "ours"), (REAL_STOCK, "stock"))
    }


def server_contenders(python: Path, node: Path, stores: Path, peer: Path) -> list[Contender]:
    """The gateway and Mercurius over the same real servers. `stores` is the gateway's directory,
    `peer` the file that tells Mercurius the addresses."""
    ours = [str(python), "-m", "bench.execution.apps.real", "ours", str(stores)]
    environment = {"NODE_ENV": "production", "BENCH_PORT": "{port}", "BENCH_STORES": str(peer)}
    return [
        Contender(SERVERS_OURS, [*ours, "{port}", "home feed"], metered=True),
        Contender(MERCURIUS_JIT, [str(node), str(MERCURIUS / "stores.js")], environment),
    ]

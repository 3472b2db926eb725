"""An app of this folder behind the gateway's own HTTP server: `pinway_server APP PORT`."""

import socket
import sys
from importlib import import_module

import uvloop

from gateway.server.process import Server


async def serve(app: str, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)) as listener:
        module = import_module(f"bench.execution.apps.{app}")
        await Server(module.app).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], int(sys.argv[2])))

"""The OpenSearch server of `pinway stack`, started for one run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.stack import Service, Stack


@contextmanager
def opensearch(folder: Path) -> Iterator[Service]:
    """The server alone, ready. It is stopped at the end."""
    stack = Stack(folder, shards=1, mod_shards=1)
    stack.up(set_up_only=True)
    server = stack.services["opensearch"]
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()

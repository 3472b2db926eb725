"""A memcached for one test, which may be stopped and killed."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from datasources.memcached import MemcachedObjectCache
from deploy.stack import install


@contextmanager
def memcached(port: int, host: str = "127.0.0.1") -> Iterator[int]:
    """A memcached at this port, killed at the end. Yields its process id."""
    install.ensure_programs({"memcached": install.PACKAGES["memcached"]}, print)
    command = [install.tool("memcached"), "-l", host, "-p", str(port), "-U", "0", "-u", "nobody"]
    with subprocess.Popen(command) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def until_it_answers(cache: MemcachedObjectCache, process_port: int) -> None:
    """Wait until the server listens, and the cache reaches it."""
    await until_listening("127.0.0.1", process_port)
    await cache.ping()


async def until_listening(host: str, port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return

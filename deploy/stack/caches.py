"""Redis (mappings and the queue) and memcached (objects)."""

import os
from pathlib import Path

from deploy.stack import install, wire
from deploy.stack.ports import HOST
from deploy.stack.service import Service

_REDIS = """\
bind {host}
port {port}
dir "{data}"
# The queue must survive a restart: everything is appended before it is acknowledged.
appendonly yes
appendfsync everysec
save ""
databases 16
daemonize no
logfile ""
"""


class Redis(Service):
    ready_timeout = 30.0

    def command(self) -> list[str]:
        return [install.tool("redis-server"), str(self.dir / "redis.conf")]

    def config(self) -> dict[Path, str]:
        text = _REDIS.format(host=HOST, port=self.port, data=self.dir / "data")
        return {Path("redis.conf"): text}

    def prepare(self) -> None:
        (self.dir / "data").mkdir(exist_ok=True)

    def probe(self) -> str:
        wire.redis_ping(self.port)
        return "append-only"


class Memcached(Service):
    ready_timeout = 30.0

    def command(self) -> list[str]:
        command = [install.tool("memcached"), "-l", HOST, "-p", str(self.port), "-U", "0"]
        command += ["-m", "64", "-c", "1024"]
        # memcached writes no files, and as root it won't start unless it is given a user to run as.
        return [*command, "-u", "nobody"] if os.geteuid() == 0 else command

    def probe(self) -> str:
        return wire.memcached_version(self.port)

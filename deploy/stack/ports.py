"""Chooses TCP ports on the loopback address that are free and outside the kernel's ephemeral
range."""

import random
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

HOST = "127.0.0.1"
_LOWEST = 10_000
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_reserved: dict[int, socket.socket] = {}


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` of the loopback address now."""
    with socket.socket() as probe:
        # Servers set this option, too: connections that remain from a previous process don't count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            return False
        return True


def reserve(port: int) -> bool:
    """Keep `port` for this process until it ends. False if a process has reserved it.

    A server may start long after its port was picked, and no other stack may pick the port
    meanwhile. The mark is a Unix socket without a file, which only Linux has. The kernel removes it
    with its process. On other systems, the port is not kept.
    """
    if sys.platform != "linux":
        return True
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        mark.bind(f"\0pinway-port-{port}")
    except OSError:
        mark.close()
        return False
    _reserved[port] = mark
    return True


def port_range(ephemeral: Path = _EPHEMERAL) -> range:
    """The ports below the kernel's ephemeral range.

    An outgoing connection may take a port inside the range while the port's server restarts. Even
    worse, a client that retries a dead port there may be connected to itself.
    """
    try:
        first = int(ephemeral.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = 32_768
    return range(_LOWEST, first) if first >= _LOWEST + 1_000 else range(_LOWEST, 65_536)


def pick(
    names: Iterable[str],
    kept: Mapping[str, int],
    in_use: Mapping[str, int],
    *,
    free: Callable[[int], bool] = is_free,
    rng: random.Random | None = None,
) -> dict[str, int]:
    """A port for every name, all different.

    `in_use` are the ports of our running servers; they stay. `kept` are ports of an earlier run;
    each stays if it is still free. All others are random, and reserved for this process.
    """
    rng = rng or random.Random()
    candidates = port_range()
    ports = dict(in_use)
    taken = set(ports.values())
    wanted = [name for name in names if name not in ports]
    for name in wanted:
        port = kept.get(name)
        if port is None or port in taken or not free(port):
            port = rng.choice(candidates)
            while port in taken or port in kept.values() or not (free(port) and reserve(port)):
                port = rng.choice(candidates)
        ports[name] = port
        taken.add(port)
    return ports

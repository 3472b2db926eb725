"""Opens the listening socket, before anything else is started."""

import socket

from datasources.errors import ConfigError
from gateway.server.descriptors import BACKLOG
from gateway.settings import Settings


def listen(settings: Settings) -> socket.socket:
    """Listen at the address in the settings. Raises ConfigError."""
    return _listen(settings.http.host, settings.http.port, "")


def listen_for_operators(settings: Settings) -> socket.socket | None:
    """Listen for operators, if the settings have a port for them. Raises ConfigError."""
    if not settings.http.admin_port:
        return None
    return _listen(settings.http.admin_host, settings.http.admin_port, "admin-")


def _listen(host: str, port: int, options: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        named = isinstance(error, socket.gaierror)
        reason = error.strerror if isinstance(error, OSError) else "a port is at most 65535"
        raise ConfigError(
            f"can't listen on {host} port {port}: {reason}; "
            + (
                f"choose another --{options}host"
                if named
                else f"stop what does, or choose another with --{options}port"
            )
        ) from None
    return listener

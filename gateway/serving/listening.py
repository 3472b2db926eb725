"""The listening socket, taken before anything else is started."""

import socket

from datasources.errors import ConfigError
from gateway.settings import Settings


def listen(settings: Settings) -> socket.socket:
    """Listens where the settings say. Raises ConfigError."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        named = isinstance(error, socket.gaierror)
        raise ConfigError(
            f"can't listen on {settings.host} port {settings.port}: {error.strerror}; "
            + (
                "choose another --host"
                if named
                else "stop what does, or choose another with --port"
            )
        ) from None
    return listener

"""Checks that several processes can share all stores."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from datasources.errors import ConfigError
from datasources.topology import parse
from gateway.settings import EMBEDDED, Settings

_STORES = (
    "topology",
    "object_cache",
    "mapping_cache",
    "queue",
    "pools_primary",
    "pools_standby",
    "feeds_primary",
    "feeds_standby",
)
_OF_ONE_PROCESS = ("memory", "rocksdb")


def require_shared(settings: Settings) -> None:
    """Raises ConfigError when a store belongs to one process, and there are several workers."""
    own = [name for name in _STORES if _is_of_one_process(getattr(settings.stores, name))]
    if own and settings.http.workers > 1:
        raise ConfigError(
            f"{settings.http.workers} workers can't share {', '.join(own)}: embedded and "
            "in-process stores belong to one process; use --workers 1, or set these to servers "
            "(docs/settings.md; `pinway stack up` starts them all)"
        )


def require_servers(settings: Settings) -> None:
    """Raises ConfigError when a store belongs to one process: a worker would have its own copy."""
    own = [name for name in _STORES if _is_of_one_process(getattr(settings.stores, name))]
    if own:
        raise ConfigError(
            f"a worker can't share {', '.join(own)} with gateways: embedded stores belong to one "
            "process, and `pinway run` works on the jobs itself; set these to servers "
            "(docs/settings.md; `pinway stack up` starts them all)"
        )


def _is_of_one_process(url: str) -> bool:
    if url == EMBEDDED:
        return True
    parts = urlsplit(url)
    if parts.scheme == "file":  # a topology: its reader reports faults
        path = Path(unquote(parts.path))
        servers = parse(path.read_bytes()).servers if path.is_file() else {}
        return any(server.startswith("sqlite:") for server in servers.values())
    return parts.scheme in _OF_ONE_PROCESS

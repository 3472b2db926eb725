"""The file of the graph of related pins, which all processes of a host share, and its state."""

from pathlib import Path
from typing import Any

from datasources.clocks import now_ms
from datasources.errors import StoreCorrupt
from feed_engine.related.changes import KEPT
from feed_engine.related.walks import ABSENT, DAMAGED, OK, OLD
from feed_engine.times import HOUR
from gateway.settings import Settings
from gateway.site.embedded_stores import file_of_shards


def graph_file(settings: Settings) -> Path:
    """The snapshot of these shards' graph, under `data_dir`."""
    return file_of_shards(settings, "related", "graph")


def graph_status(settings: Settings, now: int | None = None) -> dict[str, Any]:
    """The state of the snapshot in plain values, after a look at all of it."""
    from feed_engine.related import snapshot

    path, now = graph_file(settings), now_ms() if now is None else now
    found: dict[str, Any] = {"file": str(path), "state": ABSENT, "fault": ""}
    try:
        header = snapshot.opened(path).header
        size = path.stat().st_blocks * 512
    except FileNotFoundError:
        return found
    except (OSError, StoreCorrupt) as error:
        return found | {"state": DAMAGED, "fault": str(error)}
    age = now - header.built
    return found | {
        "state": OLD if age > KEPT else OK,
        "hours": round(age / HOUR, 2),
        "pins": header.pins,
        "roots": header.roots,
        "boards": header.boards,
        "edges": header.edges,
        "bytes": size,
    }

"""Makes `extensions.stale` of a response: the shards that were read from slaves, because their
masters did not answer."""

from datetime import UTC, datetime

import orjson

from datasources.staleness import Stale


def told_stale(stale: Stale) -> bytes:
    """Returns the extension as JSON, for example
    `{"stale": {"shards": [3, 4], "since": "2026-01-31T12:00:00.000Z"}}`."""
    since = datetime.fromtimestamp(min(stale.values()) / 1000, UTC)
    moment = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return orjson.dumps({"stale": {"shards": sorted(stale), "since": moment}})

"""Writes of many documents in one request."""

from collections.abc import Mapping, Sequence
from typing import Any

from datasources.errors import StoreConflict, StoreUnavailable
from datasources.opensearch.connection import NO_OPTIONS, Connection, reason_of

MOST = 1_000  # documents in a request
WORK = 30.0  # seconds for a request

Action = Sequence[dict[str, Any]]
"""The lines of an action: what is done, and the document."""


def put(id: int, document: dict[str, Any], version: int | None = None) -> Action:
    return ({"index": _of(id, version)}, document)


def delete(id: int, version: int) -> Action:
    return ({"delete": _of(id, version)},)


def _of(id: int, version: int | None) -> dict[str, Any]:
    if version is None:
        return {"_id": str(id)}
    # A request that is sent twice has the same version.
    return {"_id": str(id), "version": version, "version_type": "external_gte"}


async def apply(
    connection: Connection,
    path: str,
    actions: Sequence[Action],
    options: Mapping[str, str] = NO_OPTIONS,
) -> None:
    """Apply the actions, durably. Raises StoreConflict if the index has a document of a later
    version, or if there is no such index, and StoreUnavailable for an action that failed."""
    for start in range(0, len(actions), MOST):
        lines = [line for action in actions[start : start + MOST] for line in action]
        answer = await connection.ask("POST", f"{path}/_bulk", lines, WORK, options)
        if answer.document["errors"]:
            _raise(connection, answer.document["items"])


def _raise(connection: Connection, items: list[dict[str, Any]]) -> None:
    for item in items:
        (done,) = item.values()
        if "error" not in done:
            continue
        if done["status"] in (404, 409):
            raise StoreConflict(f"another process writes the search index: {reason_of(done)}")
        raise StoreUnavailable(f"{connection.name}: {reason_of(done)}")

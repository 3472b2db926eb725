"""Marks that a follow or unfollow was applied to a user's feeds. Each side stores them beside the
changed row.

A mark is a cell named by the followed target; its stamp is the version of the follow edge. Whatever
order two jobs run in, the later version remains. A job writes the mark after the cells, on the same
side. A reader who finds the mark and then reads the row therefore finds the cells, too. A new pin
leaves no mark: its own cell shows that it was applied. The row's generation is the time of the
newest action that changed the row.
"""

from collections.abc import Iterable, Mapping, Sequence

from datasources.protocols import Table, WideColumnStore
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    POOLS_APPLIED,
    id_row,
    parse_following,
)

_GENERATION = b"\x00"  # the stamp: epoch ms of the newest follow or unfollow

_Versions = Mapping[int, int]
"""Target → version of the edge to it."""


async def mark(
    store: WideColumnStore, table: Table, user_id: int, target_id: int, version: int, at: int
) -> None:
    """Record on one side that a change of an edge was applied. `at`: epoch ms of the change."""
    row = id_row(user_id)
    await store.put(table, {row: {id_row(target_id): b""}}, max(1, version))
    await store.put(table, {row: {_GENERATION: b""}}, max(1, at))


async def mark_many(
    store: WideColumnStore, table: Table, users: Iterable[tuple[int, _Versions]]
) -> None:
    """Record edges of many users whose feeds were built in bulk."""
    by_version: dict[int, dict[bytes, dict[bytes, bytes]]] = {}
    for user_id, versions in users:
        for target_id, version in versions.items():
            rows = by_version.setdefault(version, {})
            rows.setdefault(id_row(user_id), {})[id_row(target_id)] = b""
    for version, rows in by_version.items():
        await store.put(table, rows, version)


async def is_marked(
    store: WideColumnStore, table: Table, user_id: int, target_id: int, version: int
) -> bool:
    """Whether this version of the edge, or a later version, was applied to one side."""
    column = id_row(target_id)
    cell = (await store.get(table, id_row(user_id), [column])).get(column)
    return cell is not None and cell.stamp >= version


async def versions(
    store: WideColumnStore, table: Table, user_id: int, targets: Sequence[int]
) -> dict[int, int]:
    """The newest applied version of the edge to each target. Targets without a mark are left
    out."""
    found = await store.get(table, id_row(user_id), [id_row(target) for target in targets])
    return {int.from_bytes(column, "big"): cell.stamp for column, cell in found.items()}


async def following_generation(store: WideColumnStore, user_id: int) -> int | None:
    """Epoch ms of the newest action, or the newest pin, in the user's following feed on one side.
    None if the feed is empty. Read it before the row: the row then holds at least these changes."""
    at = await _generation(store, FOLLOWING_APPLIED, user_id)
    newest = await store.read(FOLLOWING, id_row(user_id), limit=1)
    times = [parse_following(cell.column).created for cell in newest]
    return max([*times, *at], default=None)


async def pools_generation(store: WideColumnStore, user_id: int) -> int:
    """Epoch ms of the newest follow or unfollow in the user's pools on one side; 0 if there is
    none."""
    return max(await _generation(store, POOLS_APPLIED, user_id), default=0)


async def _generation(store: WideColumnStore, table: Table, user_id: int) -> list[int]:
    found = await store.get(table, id_row(user_id), [_GENERATION])
    return [cell.stamp for cell in found.values()]

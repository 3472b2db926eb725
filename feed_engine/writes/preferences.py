"""Hides pins in the viewer's home feed, says of what the viewer wants to see less or more, and
mutes users.

All rows are on the viewer's shard. Nothing follows elsewhere: each page of the feed reads them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from datasources.clocks import now_ms
from datasources.errors import BadInput, NotFound
from datasources.ids import InvalidId, Kind, kind_of
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx, Stores
from datasources.records import Interest, Pin
from feed_engine.feeds.preferences import HIDDEN, MUTED, TUNED
from feed_engine.transactions import access
from feed_engine.transactions.commit import (
    Mutation,
    Outcome,
    Outdated,
    Rows,
    Saved,
    mutate,
    of_viewer,
)

_TUNED = (Mapping.USER_SEES_LESS, Mapping.USER_SEES_MORE)


class Prepared(NamedTuple):
    """The target of a write, and the oldest entry of a list that may be full. `unseen`: the error
    if the viewer can't see the target, and nothing is to be ended."""

    target_id: int
    oldest: Edge | None = None
    unseen: NotFound | None = None


async def hide_pin(
    stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None, at: int | None = None
) -> int:
    """Hide a pin that the viewer sees, with all repins of its picture. Returns the first pin of its
    chain of repins. Raises NotFound."""

    hidden = Mapping.USER_HIDES_PINS
    oldest = PageRequest(ListKey(hidden, viewer_id), 1, ascending=True)

    async def prepare() -> Prepared:
        [some], [pin, _] = await asyncio.gather(
            stores.shards.mappings.pages([oldest]), access.find_pin(stores, viewer_id, pin_id)
        )
        return Prepared(pin.root, some[0] if some else None)

    mutation = of_viewer(stores, "hidePin", viewer_id, Kind.PIN, pin_id, key)
    return await _write(stores, mutation, prepare, (hidden,), hidden, at)


async def unhide_pin(stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None) -> int:
    """Show a hidden picture again, even if the viewer can no longer see this pin of it. Raises
    NotFound."""

    async def prepare() -> Prepared:
        root = (await access.recall(stores, Pin, pin_id)).root
        try:
            await access.find_pin(stores, viewer_id, pin_id)
        except NotFound as error:
            return Prepared(root, unseen=error)
        return Prepared(root)

    mutation = of_viewer(stores, "unhidePin", viewer_id, Kind.PIN, pin_id, key)
    return await _write(stores, mutation, prepare, (Mapping.USER_HIDES_PINS,), None, None)


async def see_less(
    stores: Stores, viewer_id: int, id: int, *, key: str | None = None, at: int | None = None
) -> int:
    """See less of a user, a board or an interest. Ends `see_more`. Returns the id. Raises BadInput,
    NotFound."""
    return await _tune(stores, "seeLess", viewer_id, id, Mapping.USER_SEES_LESS, key, at)


async def see_more(
    stores: Stores, viewer_id: int, id: int, *, key: str | None = None, at: int | None = None
) -> int:
    """See more of a user, a board or an interest. Ends `see_less`. Returns the id. Raises BadInput,
    NotFound."""
    return await _tune(stores, "seeMore", viewer_id, id, Mapping.USER_SEES_MORE, key, at)


async def see_as_usual(stores: Stores, viewer_id: int, id: int, *, key: str | None = None) -> int:
    """End `see_less` or `see_more`, even if the viewer can no longer see the board. Returns the id.
    Raises BadInput, NotFound."""
    return await _tune(stores, "seeAsUsual", viewer_id, id, None, key, None)


async def mute_user(
    stores: Stores, viewer_id: int, user_id: int, *, key: str | None = None, at: int | None = None
) -> int:
    """Keep a user's pins out of the viewer's feeds. Returns the id. Raises BadInput, NotFound."""
    if user_id == viewer_id:
        raise BadInput("Nobody can mute themselves: choose another user.", "userId")

    async def prepare() -> Prepared:
        return Prepared((await access.find_user(stores, viewer_id, user_id)).id)

    muted = Mapping.USER_MUTES_USERS
    mutation = of_viewer(stores, "muteUser", viewer_id, Kind.USER, user_id, key)
    return await _write(stores, mutation, prepare, (muted,), muted, at)


async def unmute_user(
    stores: Stores, viewer_id: int, user_id: int, *, key: str | None = None
) -> int:
    """Show a user's pins in the viewer's feeds again, even if the viewer can no longer see the
    user. Returns the id. Raises NotFound."""

    async def prepare() -> Prepared:
        try:
            await access.find_user(stores, viewer_id, user_id)
        except NotFound as error:
            return Prepared(user_id, unseen=error)
        return Prepared(user_id)

    mutation = of_viewer(stores, "unmuteUser", viewer_id, Kind.USER, user_id, key)
    return await _write(stores, mutation, prepare, (Mapping.USER_MUTES_USERS,), None, None)


async def _tune(
    stores: Stores,
    name: str,
    viewer_id: int,
    id: int,
    wanted: Mapping | None,
    key: str | None,
    at: int | None,
) -> int:
    kind = _kind_of(id)

    async def prepare() -> Prepared:
        if wanted is not None:
            await _check(stores, viewer_id, kind, id)
        return Prepared(id)

    mutation = of_viewer(stores, name, viewer_id, kind, id, key, "id")
    return await _write(stores, mutation, prepare, _TUNED, wanted, at)


async def _write(
    stores: Stores,
    mutation: Mutation,
    prepare: Callable[[], Awaitable[Prepared]],
    mappings: Sequence[Mapping],
    wanted: Mapping | None,
    at: int | None,
) -> int:
    """Make `wanted` the only one of the mappings in which the viewer has an edge to the target."""
    mutation = mutation._replace(takes_back=wanted is None)
    viewer_id, now = mutation.viewer_id, at if at is not None else now_ms()

    async def work(tx: ShardTx, prepared: Prepared) -> Outcome[int]:
        target_id = prepared.target_id
        keys = {mapping: EdgeKey(mapping, viewer_id, target_id) for mapping in mappings}
        there = await tx.edges(list(keys.values()))
        rows, changed = Rows(tx), False
        for mapping, key in keys.items():
            row = there.get(key)
            if (row is not None and row.active) == (mapping is wanted):
                continue
            if mapping is wanted:
                await _make_room(tx, rows, ListKey(mapping, viewer_id), prepared.oldest)
            sequence = now * SEQUENCE_STEP if row is None or mapping is wanted else row.sequence
            version = row.version + 1 if row else 1
            await rows.put(
                mapping, Edge(viewer_id, target_id, sequence, version, mapping is wanted)
            )
            changed = True
        if prepared.unseen is not None and not changed:
            raise prepared.unseen
        return Outcome(target_id, Saved(id=target_id), rows.change(), durable=changed)

    return await mutate(stores, mutation, prepare, work, _again)


async def _make_room(tx: ShardTx, rows: Rows, key: ListKey, oldest: Edge | None) -> None:
    """Bound the list. A hidden picture replaces the oldest; further tuning is refused."""
    size = (await tx.head(key)).size
    if key.mapping is Mapping.USER_MUTES_USERS:
        if size >= MUTED:
            raise BadInput(f"More than {MUTED:,} users can't be muted: unmute one first.", "userId")
    elif key.mapping is not Mapping.USER_HIDES_PINS:
        if size >= TUNED:
            raise BadInput(
                f"More than {TUNED} users, boards and interests can't be seen less or more: end "
                "one with seeAsUsual first.",
                "id",
            )
    elif size >= HIDDEN:
        row = await tx.edge(EdgeKey(*key, oldest.to_id)) if oldest is not None else None
        if row is None or not row.active:
            raise Outdated
        await rows.put(key.mapping, row._replace(version=row.version + 1, active=False))


async def _again(saved: Saved) -> int:
    return saved.id


def _kind_of(id: int) -> Kind:
    try:
        kind = kind_of(id)
    except InvalidId as error:
        raise BadInput(str(error), "id") from None
    if kind not in (Kind.USER, Kind.BOARD, Kind.INTEREST):
        raise BadInput(
            f"A {kind.name.lower()} can't be seen less or more: only users, boards and interests.",
            "id",
        )
    return kind


async def _check(stores: Stores, viewer_id: int, kind: Kind, id: int) -> None:
    if kind is Kind.BOARD:
        await access.find_board(stores, viewer_id, id, "id")
    elif kind is Kind.USER:
        await access.find_user(stores, viewer_id, id, "id")
    elif not await access.read(stores, Interest, [id]):
        raise access.missing(kind, id, "id")

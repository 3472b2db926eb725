"""Compares all stored data, and returns a list of faults."""

from collections.abc import Iterable

from datasources import records
from datasources.ids import Kind
from datasources.mappings import (
    REVERSE,
    Edge,
    EdgeKey,
    ListKey,
    Mapping,
    PageRequest,
    lists_of_kind,
)
from datasources.protocols import Lease, Stores
from datasources.records import Board, Comment, Pin, Record, Section, User

ALL = 10**6
AT_ONCE = 200  # lists that are requested from a cache at once, because its deadline is short


async def audit(stores: Stores) -> list[str]:
    """The faults between objects, both directions of each edge, lists' heads, and caches. Call it
    when no work is left. Empty if there are no faults."""
    return await Audit(stores).run()


class Audit:
    def __init__(self, stores: Stores) -> None:
        self.stores, self.faults = stores, list[str]()
        self.objects: dict[Kind, dict[int, Record]] = {}
        self.lists: dict[ListKey, list[Edge]] = {}

    async def run(self) -> list[str]:
        for kind in Kind:
            found = await self.stores.shards.objects.list(kind, 0, ALL)
            self.objects[kind] = {id: records.decode(kind, id, raw) for id, raw in found}
        keys = [
            ListKey(mapping, id)
            for kind in Kind
            for mapping in lists_of_kind(kind)
            for id in self.objects[kind]
        ]
        pages = await self.stores.shards.mappings.pages([PageRequest(key, ALL) for key in keys])
        self.lists = dict(zip(keys, pages, strict=True))
        await self._heads(keys)
        await self._caches(keys)
        await self._reverses()
        self._members()
        self._contents()
        await self._names()
        if rows := await self.stores.shards.outbox.pending(2**62, 10):
            self.faults.append(f"work is left: {rows}")
        return self.faults

    async def _heads(self, keys: list[ListKey]) -> None:
        heads = await self.stores.shards.mappings.heads(keys)
        for key in keys:
            if heads[key].size != len(self.lists[key]):
                self.faults.append(f"{key}: size {heads[key].size}, {len(self.lists[key])} rows")
            if heads[key].held:
                self.faults.append(f"{key}: it is held")

    async def _caches(self, keys: list[ListKey]) -> None:
        for at in range(0, len(keys), AT_ONCE):
            await self._cached_lists(keys[at : at + AT_ONCE])
        ids = [id for found in self.objects.values() for id in found]
        stored = await self.stores.shards.objects.get(ids)
        for id, raw in (await self.stores.object_cache.get(ids)).items():
            if isinstance(raw, bytes) and raw != stored[id]:
                self.faults.append(f"object {id}: cached {raw!r}, not {stored[id]!r}")

    async def _cached_lists(self, keys: list[ListKey]) -> None:
        heads = await self.stores.shards.mappings.heads(keys)
        for key, head in (await self.stores.mapping_cache.heads(keys)).items():
            if not isinstance(head, Lease) and head != heads[key]:
                self.faults.append(f"{key}: cached head {head}, not {heads[key]}")
        pages = await self.stores.mapping_cache.pages([PageRequest(key, 5) for key in keys])
        for key, page in zip(keys, pages, strict=True):
            if isinstance(page, list) and _places(page) != _places(self.lists[key][:5]):
                self.faults.append(f"{key}: cached page {page}, not {self.lists[key][:5]}")

    async def _reverses(self) -> None:
        for forward, reverse in REVERSE.items():
            for one, other in ((forward, reverse), (reverse, forward)):
                rows = [r for k, found in self.lists.items() if k.mapping is one for r in found]
                keys = [EdgeKey(other, row.to_id, row.from_id) for row in rows]
                found = await self.stores.shards.mappings.edges(keys) if keys else {}
                for row, key in zip(rows, keys, strict=True):
                    if found.get(key) != row.reversed():
                        self.faults.append(f"{one}: {row}, reversed {found.get(key)}")

    def _members(self) -> None:
        """Check that a board's record has the users of its lists."""
        for board in self.objects[Kind.BOARD].values():
            assert isinstance(board, Board)
            for mapping, ids in (
                (Mapping.BOARD_HAS_COLLABORATORS, board.collaborators),
                (Mapping.BOARD_INVITES_USERS, board.invited),
            ):
                listed = {row.to_id for row in self.lists[ListKey(mapping, board.id)]}
                if listed != set(ids) or len(listed) != len(ids):
                    self.faults.append(f"board {board.id}: {mapping} has {listed}, not {ids}")

    def _contents(self) -> None:
        """Check that an object's lists have all objects that belong to it, and no others."""
        boards = [b for b in self.objects[Kind.BOARD].values() if isinstance(b, Board) and b.active]
        pins = [p for p in self.objects[Kind.PIN].values() if isinstance(p, Pin) and p.active]
        shown = {b.id for b in boards if not b.secret}
        public = [p for p in pins if p.board_id in shown]
        comments = [
            c for c in self.objects[Kind.COMMENT].values() if isinstance(c, Comment) and c.active
        ]
        filed = ((i, p.id) for p in public for i in p.interest_ids)
        self._holds(Mapping.USER_HAS_BOARDS, ((b.owner_id, b.id) for b in boards))
        self._holds(
            Mapping.USER_HAS_PUBLIC_BOARDS, ((b.owner_id, b.id) for b in boards if b.id in shown)
        )
        self._holds(Mapping.BOARD_HAS_PINS, ((p.board_id, p.id) for p in pins))
        self._holds(Mapping.USER_HAS_PINS, ((p.owner_id, p.id) for p in pins))
        self._holds(Mapping.USER_HAS_PUBLIC_PINS, ((p.owner_id, p.id) for p in public))
        self._holds(Mapping.INTEREST_HAS_PINS, filed)
        self._holds(Mapping.PIN_HAS_COMMENTS, ((c.pin_id, c.id) for c in comments))
        self._holds(Mapping.USER_WROTE_COMMENTS, ((c.author_id, c.id) for c in comments))
        sections = {
            s.id: s
            for s in self.objects[Kind.SECTION].values()
            if isinstance(s, Section) and s.active
        }
        placed = [p for p in pins if p.section_id is not None]
        self._holds(Mapping.BOARD_HAS_SECTIONS, ((s.board_id, s.id) for s in sections.values()))
        self._holds(Mapping.SECTION_HAS_PINS, ((p.section_id or 0, p.id) for p in placed))
        for pin in placed:
            if getattr(sections.get(pin.section_id or 0), "board_id", None) != pin.board_id:
                self.faults.append(f"{pin} is in a section of another board, or in none")
        for deleted in self.objects[Kind.PIN].values():
            if isinstance(deleted, Pin) and not deleted.active and deleted.section_id:
                self.faults.append(f"{deleted} is deleted, and in a section")

    def _holds(self, mapping: Mapping, wanted: Iterable[tuple[int, int]]) -> None:
        rows = {
            (row.from_id, row.to_id)
            for key, found in self.lists.items()
            if key.mapping is mapping
            for row in found
        }
        if rows != (expected := set(wanted)):
            self.faults.append(f"{mapping}: lacks {expected - rows}, has {rows - expected}")

    async def _names(self) -> None:
        users = [u for u in self.objects[Kind.USER].values() if isinstance(u, User) and u.active]
        names = [user.username for user in users]
        held = await self.stores.shards.mod.find("username", names) if names else {}
        for user in users:
            if held.get(user.username) != user.id:
                self.faults.append(f"{user.username} is {held.get(user.username)}, not {user.id}")


def _places(edges: list[Edge]) -> list[tuple[int, int]]:
    return [(edge.sequence, edge.to_id) for edge in edges]

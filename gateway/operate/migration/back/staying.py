"""Tells which objects stay in Pinway on the way back of a migration: users whom another migration
or an import brought, and what is theirs. They still are where they came from, and were never in
this migration's old database."""

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.records import Board, Comment, Interest, Pin, User
from gateway.operate.migration.back.graph import Graph
from gateway.operate.migration.back.ledger import Known
from gateway.operate.migration.stored_keys import StoredKeys


@dataclass(frozen=True)
class Staying:
    """Whether an object of a graph stays. `known`: the objects that the ledger knows; `keys`: the
    migration's."""

    graph: Graph
    known: Mapping[int, Known]
    keys: StoredKeys

    def __call__(self, id: int) -> bool:
        match self.graph.records.get(id):
            case User(key=str(key)):
                return not (self._is_known(id) or self.keys.has(key))
            case Board(owner_id=owner_id):
                return self(owner_id)
            case Pin(board_id=board_id):
                return self(board_id)
            case Comment(pin_id=pin_id, author_id=author_id):
                return self(pin_id) and self(author_id)
        return False

    def why_told(self, id: int) -> str:
        """Why an object that stays is a change left out: somebody else has a part in it. Otherwise
        empty."""
        match self.graph.records[id]:
            case Pin(owner_id=owner_id) if not self(owner_id):
                return "its board stays in Pinway"
        return ""

    def edge(self, user_id: int, target_id: int) -> str | None:
        """Why a like or a follow does not come to the old database: empty if it is of users who
        stay alone, as a follow of an interest is. None if it comes."""
        user, target = self(user_id), self(target_id)
        if user and (target or isinstance(self.graph.records[target_id], Interest)):
            return ""
        return "one of its ends stays in Pinway" if user or target else None

    def _is_known(self, id: int) -> bool:
        return id in self.known and self.known[id].key is not None

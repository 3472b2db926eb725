"""Tells which objects stay in Pinway on the way back of a migration: users whom another migration
or an import brought, and what is theirs. They still are where they came from, and were never in
this migration's old database."""

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.records import Board, Comment, Pin, User
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

    def _is_known(self, id: int) -> bool:
        return id in self.known and self.known[id].key is not None

"""The model of a schedule's writes, and of the pins that each viewer must see afterwards."""

from collections import defaultdict
from dataclasses import dataclass, field

from datasources.records import Board, Pin, User


@dataclass
class World:
    """The model of all writes."""

    viewers: list[User]
    owners: list[User]
    boards: list[Board]  # that are not deleted
    secret: set[int] = field(default_factory=set)
    pins: dict[int, Pin] = field(default_factory=dict)  # active ones, with their present boards
    followed: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # by viewer

    def expected(self, viewer: User) -> list[int]:
        """All pins that may be shown to a viewer, newest first."""
        followed = self.followed[viewer.id]
        shown = [
            pin
            for pin in self.pins.values()
            if pin.board_id not in self.secret
            and not followed.isdisjoint((pin.owner_id, pin.board_id))
        ]
        return [pin.id for pin in sorted(shown, key=lambda pin: -pin.created)]

    @property
    def targets(self) -> list[int]:
        """The ids that a viewer can follow."""
        boards = (board.id for board in self.boards if board.id not in self.secret)
        return [*(owner.id for owner in self.owners), *boards]

    def delete_board(self, board: Board) -> None:
        self.boards.remove(board)
        self.secret.discard(board.id)
        self.pins = {id: pin for id, pin in self.pins.items() if pin.board_id != board.id}

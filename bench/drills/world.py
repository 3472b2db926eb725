"""The demo's people as the drills' users, and an oracle that says which pins their feeds may have.

The oracle uses the imported lines only: it knows nothing about feeds, jobs or stores.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from datasources import records
from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Board, Pin, User
from gateway.demo.content import demo_lines
from gateway.operate.imports.entries import Entry
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    FollowLine,
    InterestLine,
    PinLine,
    UserLine,
    canonical,
)
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions, Progress

ATTEMPTS = 5  # of the import

Place = tuple[str, str, str]
"""The identity of a pin: its owner, its board's name, its link."""


@dataclass
class Oracle:
    """The follows of each user, and the pins that they bring."""

    shown: dict[Place, PinLine] = field(default_factory=dict)  # on public boards
    boards: dict[str, BoardLine] = field(default_factory=dict)
    follows: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    brought: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))  # by cause

    @classmethod
    def of(cls, lines: Iterable[AnyLine]) -> "Oracle":
        oracle, pins = cls(), list[PinLine]()
        for line in lines:
            if isinstance(line, BoardLine):
                oracle.boards[line.key] = line
            elif isinstance(line, PinLine):
                pins.append(line)
            elif isinstance(line, FollowLine):
                kind = "user" if line.user else "board" if line.board else "interest"
                oracle.follows[line.follower].add(f"{kind} {getattr(line, kind)}")
        for pin in pins:
            board = oracle.boards[pin.board]
            if not board.secret:
                place = (board.owner, board.name, pin.link or "")
                oracle.shown[place] = pin
                for cause in (f"user {board.owner}", f"board {pin.board}"):
                    oracle.brought[cause].add(place)
                for slug in pin.interests:
                    oracle.brought[f"interest {slug}"].add(place)
        return oracle

    def following(self, viewer: str) -> set[Place]:
        """All pins of a viewer's following feed."""
        causes = (c for c in self.follows[viewer] if not c.startswith("interest "))
        places = set().union(*(self.brought[cause] for cause in causes))
        return {place for place in places if place[0] != viewer}

    def brings(self, viewer: str, place: Place, *kinds: str) -> bool:
        """Whether a follow of one of these kinds brings the pin to the viewer."""
        causes = (c for c in self.follows[viewer] if c.partition(" ")[0] in kinds)
        return place[0] != viewer and any(place in self.brought[cause] for cause in causes)

    def allows(self, viewer: str, place: Place, reason: str) -> bool:
        """Whether a home feed may have the pin for that reason."""
        kinds = {
            "FOLLOWED_USER": "user",
            "FOLLOWED_BOARD": "board",
            "FOLLOWED_INTEREST": "interest",
        }
        if reason in kinds:
            return self.brings(viewer, place, kinds[reason])
        return place in self.shown and place[0] != viewer


@dataclass(frozen=True)
class World:
    """The oracle, and the ids of its users and pins in the stores."""

    oracle: Oracle
    run: str  # the prefix of all user names
    users: dict[str, int]
    places: dict[str, Place]  # of pins, by the id that clients see
    following: dict[str, set[str]]  # ids of all pins of each user's following feed


def entries(run: str) -> Iterator[Entry]:
    """The demo's lines. Names that must be unique across all shards get this run's prefix."""
    for number, line in enumerate(demo_lines(), 1):
        if isinstance(line, UserLine):
            line = msgspec.structs.replace(line, username=run + line.username)
        elif isinstance(line, InterestLine):
            line = msgspec.structs.replace(line, slug=run + line.slug)
        yield Entry(number, line, canonical(line))


def _unseen(progress: Progress) -> None: ...


async def load(stores: Stores, directory: Path, run: str) -> World:
    """Import the demo, including feeds. `run` is a unique prefix of 5 letters and digits."""
    options = ImportOptions(strict=True, spool_dir=str(directory))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            await import_entries(stores, entries(run), options=options, progress=_unseen)
            break
        except StoreError:  # a store may be late on a busy machine; lines that were written stay
            if attempt == ATTEMPTS:
                raise
    found = {
        kind: {
            id: records.decode(kind, id, raw)
            for id, raw in await stores.shards.objects.list(kind, 0, 1_000_000)
        }
        for kind in (Kind.USER, Kind.BOARD, Kind.PIN)
    }
    names = {
        id: u.username.removeprefix(run)
        for id, u in found[Kind.USER].items()
        if isinstance(u, User)
    }
    boards = {id: b.name for id, b in found[Kind.BOARD].items() if isinstance(b, Board)}
    places = {
        str(id): (names[pin.owner_id], boards[pin.board_id], pin.link or "")
        for id, pin in found[Kind.PIN].items()
        if isinstance(pin, Pin)
    }
    oracle = Oracle.of(demo_lines())
    ids: dict[Place, set[str]] = defaultdict(set)
    for id, place in places.items():
        ids[place].add(id)
    following = {
        name: set().union(*(ids[place] for place in oracle.following(name)))
        for name in names.values()
    }
    return World(oracle, run, {name: id for id, name in names.items()}, places, following)

"""Objects, tasks, the topology and the switches: values that one version writes and the next must
read, and the reader of each."""

from typing import Any

from datasources import records, switches, topology
from datasources.ids import Kind, compose
from datasources.mappings import Edge, ListKey, ListMove, Mapping
from feed_engine.outbox import change as changes
from feed_engine.outbox.change import (
    AccountDeleted,
    AccountErased,
    Blocked,
    BoardDeleted,
    BoardSecrecy,
    CommentChanged,
    DataExpired,
    DataRequested,
    EventsRecorded,
    FanOutBatch,
    FeedShort,
    Followed,
    InterestShort,
    KeyEnded,
    MembershipChanged,
    NameEnded,
    PinArrived,
    PinHidden,
    PinLiked,
    PinPublished,
    PinSaved,
    PinUnliked,
    PoolShort,
    Respace,
    SectionDeleted,
    Task,
    TextChanged,
    Unfollowed,
    VisitShown,
)
from tests.unit.versions.samples import Kept

USER, BOARD, PIN = compose(3, Kind.USER, 7), compose(3, Kind.BOARD, 8), compose(3, Kind.PIN, 9)
SECTION = compose(3, Kind.SECTION, 11)
LIST = ListKey(Mapping.BOARD_HAS_PINS, BOARD)
TASKS: list[Task] = [
    PinPublished(PIN, BOARD, USER, (compose(1, Kind.INTEREST, 2),), 1_700_000_000_000, 5),
    PinArrived(PIN, BOARD, 6),
    Followed(USER, BOARD, 3, 1_700_000_000_001),
    Unfollowed(USER, BOARD, 4, 1_700_000_000_002),
    Blocked(USER, compose(5, Kind.USER, 6), 1_700_000_000_006),
    PinLiked(USER, PIN, 7),
    PinUnliked(USER, PIN),
    PinSaved(PIN),
    CommentChanged(compose(3, Kind.COMMENT, 10)),
    PinHidden(PIN),
    TextChanged((USER, BOARD)),
    MembershipChanged(BOARD, USER),
    BoardSecrecy(BOARD, True, 8),
    BoardDeleted(BOARD, 9),
    SectionDeleted(SECTION),
    AccountDeleted(USER, 1_700_000_000_007),
    AccountErased(USER, 1_700_000_000_008),
    DataRequested(USER, 1_700_000_000_011),
    DataExpired(USER, 1_700_000_000_011),
    KeyEnded(USER, "email", "ann@example.org", 2, 1_700_000_000_010),
    NameEnded(USER, "ann", 2, 1_700_000_000_009),
    Respace(BOARD, "17000000000000000000000000000000000000", 2),
    VisitShown(USER, 12),
    EventsRecorded(USER, ((PIN, 1), (PIN, 3)), 1_700_000_000_007, 2),
    FanOutBatch(PIN, BOARD, 8, f"{10**37}:{USER}", ""),
    FeedShort(USER, 1_700_000_000_003),
    InterestShort(compose(1, Kind.INTEREST, 2), 1_700_000_000_004),
    PoolShort(USER, 1_700_000_000_005),
]


def _record(record: Any) -> Kept:
    kind = records.KINDS[type(record)]
    return Kept(record, records.encode(record), lambda data: records.decode(kind, record.id, data))


def _change(change: changes.Change) -> Kept:
    return Kept(change, changes.encode(change), changes.decode)


TOPOLOGY = topology.Topology(
    epoch=4,
    servers={"one": "mysql://10.0.0.1:3306", "two": "mysql://10.0.0.2:3306"},
    shards=(
        topology.ShardRange((0, 31), "one", "two"),
        topology.ShardRange((32, 63), "two"),
    ),
    mod=topology.ModShards(16, (topology.ShardRange((0, 15), "one"),)),
)
SWITCHES = {"route.feeds": "standby", "made.shards": "db00000-db00063"}
IMAGE = records.Image("https://example.org/a.jpg", 736, 1104, "#aabbcc")
VALUES: dict[str, Kept] = {
    **{
        f"task-{type(task).__name__}.json": _change(changes.change(tasks=[task]))  # type: ignore[list-item]
        for task in TASKS
    },
    "task-Respace-section.json": _change(
        changes.change(
            tasks=[Respace(SECTION, "17", 2, mapping=Mapping.SECTION_HAS_PINS.code)],
        )
    ),
    "change.json": _change(
        changes.change(
            edges=[(Mapping.USER_HAS_PINS, Edge(USER, PIN, 10**37, 2, True))],
            objects=[PIN],
            lists=[LIST],
            moves=[ListMove(LIST, PIN, 10**37, 10**37 + 5, 6)],
            claims=[("username", "ann", USER)],
        )
    ),
    "user.json": _record(
        records.User(id=USER, created=1, username="ann", full_name="Ann", avatar=IMAGE)
    ),
    "user-names.json": _record(
        records.User(
            id=USER,
            created=1,
            username="ann.lee",
            claimed=2,
            kept_names=(records.KeptKey("ann", 1, 1_700_000_000_000),),
        )
    ),
    "user-keys.json": _record(
        records.User(
            id=USER,
            created=1,
            username="ann",
            email="ann@example.org",
            email_claimed=1,
            kept_emails=(records.KeptKey("ann@example.com", 0, 1_700_000_000_000),),
            subject='["https://id.example/","ann"]',
            subject_claimed=2,
            kept_subjects=(records.KeptKey('["https://id.example/","lee"]', 3, 5, True),),
        )
    ),
    "user-data-export.json": _record(
        records.User(
            id=USER,
            created=1,
            username="ann",
            data_export=records.DataExport(1_700_000_000_011, 1_700_000_000_012, 4096),
        )
    ),
    "board.json": _record(records.Board(id=BOARD, name="Tea", owner_id=USER, secret=True, flips=3)),
    "board-members.json": _record(
        records.Board(
            id=BOARD,
            name="Tea",
            owner_id=USER,
            collaborators=(compose(5, Kind.USER, 6),),
            invited=(compose(6, Kind.USER, 7),),
        )
    ),
    "pin.json": _record(
        records.Pin(id=PIN, board_id=BOARD, owner_id=USER, title="Gyokuro", image=IMAGE)
    ),
    "pin-in-section.json": _record(
        records.Pin(id=PIN, board_id=BOARD, owner_id=USER, section_id=SECTION)
    ),
    "section.json": _record(records.Section(id=SECTION, board_id=BOARD, name="Green", flips=3)),
    "comment.json": _record(
        records.Comment(id=compose(3, Kind.COMMENT, 1), pin_id=PIN, author_id=USER, text="Hot?")
    ),
    "interest.json": _record(
        records.Interest(id=compose(3, Kind.INTEREST, 1), name="Tea", slug="tea")
    ),
    "topology.json": Kept(TOPOLOGY, topology.dump(TOPOLOGY), topology.parse),
    "switches.json": Kept(
        SWITCHES, switches.dump(SWITCHES), lambda data: switches.parse(data, "switches")
    ),
}

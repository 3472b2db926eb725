"""The protocols of the stores: each protocol's contract, and the errors that its calls may raise.

All calls may raise StoreTimeout, StoreUnavailable or StoreCorrupt (`datasources.errors`). Each call
names its other errors. A call with many keys takes one round trip for each *server* (not for each
shard), whatever the number of keys. A cancelled call leaves nothing behind: later calls get their
own answers. `tests/contract/` tests every backend against this page.
"""

from datasources.protocols.broadcasts import Broadcasts, Listener, Message
from datasources.protocols.caches import Lease, LocalObjects, MappingCache, ObjectCache
from datasources.protocols.events import EventKind, EventStore, PinEvent
from datasources.protocols.expiry import Expiry, Forgotten
from datasources.protocols.generations import Generations, GenerationState, Reading
from datasources.protocols.mappings import MappingStore, Window
from datasources.protocols.mod import Claim, ModStore
from datasources.protocols.notifications import (
    NOTIFICATIONS_KEPT,
    Inbox,
    Notification,
    NotificationKind,
    NotificationStore,
)
from datasources.protocols.objects import Listed, ObjectStore
from datasources.protocols.operators import Operations, Switches
from datasources.protocols.outbox import (
    Backlog,
    Due,
    Outbox,
    OutboxEntry,
    OutboxRow,
    Parked,
    Places,
)
from datasources.protocols.pictures import OpenedFile, PictureStore
from datasources.protocols.queue import BULK, NORMAL, PRIORITIES, URGENT, Job, JobQueue, Lane
from datasources.protocols.reports import (
    REPORTS_KEPT,
    Case,
    CaseFile,
    CaseOrder,
    CaseRequest,
    Cases,
    CaseStatus,
    Decision,
    Report,
    ReportReason,
    ReportStore,
)
from datasources.protocols.search import (
    ACCENTS,
    HANGUL,
    MOST_WORDS,
    SIGNS,
    UNSPACED,
    Document,
    Hit,
    IndexState,
    IndexStatus,
    IndexTimes,
    NewIndex,
    SearchRequest,
    SearchStore,
    has_endings,
    typing_errors,
)
from datasources.protocols.shards import ShardStore
from datasources.protocols.stores import Stores
from datasources.protocols.topology import FollowedTopology, TopologySource
from datasources.protocols.transactions import (
    RESPACINGS_KEPT,
    RESPACINGS_KEPT_MS,
    Answer,
    ShardTx,
    Use,
)
from datasources.protocols.visits import VISITS_KEPT, Visit, VisitStore
from datasources.protocols.wide_columns import Cell, Sides, Table, WideColumnStore

__all__ = [
    "ACCENTS",
    "BULK",
    "HANGUL",
    "MOST_WORDS",
    "NORMAL",
    "NOTIFICATIONS_KEPT",
    "PRIORITIES",
    "REPORTS_KEPT",
    "RESPACINGS_KEPT",
    "RESPACINGS_KEPT_MS",
    "SIGNS",
    "UNSPACED",
    "URGENT",
    "VISITS_KEPT",
    "Answer",
    "Backlog",
    "Broadcasts",
    "Case",
    "CaseFile",
    "CaseOrder",
    "CaseRequest",
    "CaseStatus",
    "Cases",
    "Cell",
    "Claim",
    "Decision",
    "Document",
    "Due",
    "EventKind",
    "EventStore",
    "Expiry",
    "FollowedTopology",
    "Forgotten",
    "GenerationState",
    "Generations",
    "Hit",
    "Inbox",
    "IndexState",
    "IndexStatus",
    "IndexTimes",
    "Job",
    "JobQueue",
    "Lane",
    "Lease",
    "Listed",
    "Listener",
    "LocalObjects",
    "MappingCache",
    "MappingStore",
    "Message",
    "ModStore",
    "NewIndex",
    "Notification",
    "NotificationKind",
    "NotificationStore",
    "ObjectCache",
    "ObjectStore",
    "OpenedFile",
    "Operations",
    "Outbox",
    "OutboxEntry",
    "OutboxRow",
    "Parked",
    "PictureStore",
    "PinEvent",
    "Places",
    "Reading",
    "Report",
    "ReportReason",
    "ReportStore",
    "SearchRequest",
    "SearchStore",
    "ShardStore",
    "ShardTx",
    "Sides",
    "Stores",
    "Switches",
    "Table",
    "TopologySource",
    "Use",
    "Visit",
    "VisitStore",
    "WideColumnStore",
    "Window",
    "has_endings",
    "typing_errors",
]

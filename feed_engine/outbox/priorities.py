"""The priority of each outbox row's job: work that somebody waits for comes before large work."""

from collections.abc import Mapping, Sequence

from datasources.protocols import BULK, NORMAL, PRIORITIES, URGENT
from feed_engine.outbox.change import (
    AccountDeleted,
    AccountErased,
    Blocked,
    BoardDeleted,
    BoardSecrecy,
    DataRequested,
    EventsRecorded,
    FanOutBatch,
    Followed,
    MembershipChanged,
    Respace,
    SectionDeleted,
    Task,
    Unfollowed,
    VisitShown,
)

OF_TASKS: Mapping[type[Task], str] = {
    Followed: URGENT,
    Unfollowed: URGENT,
    Blocked: URGENT,
    MembershipChanged: URGENT,
    VisitShown: URGENT,
    BoardSecrecy: BULK,
    BoardDeleted: BULK,
    SectionDeleted: BULK,
    AccountDeleted: BULK,
    AccountErased: BULK,
    DataRequested: BULK,
    Respace: BULK,
    EventsRecorded: BULK,
    FanOutBatch: BULK,
}
"""The priority of each task whose priority is not normal."""


def of_tasks(tasks: Sequence[Task]) -> str:
    """The priority of a row: the lowest priority of its tasks. A row without tasks completes a
    write that somebody waits for."""
    found = {OF_TASKS.get(type(task), NORMAL) for task in tasks} or {URGENT}
    return max(found, key=PRIORITIES.index)

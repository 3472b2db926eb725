"""The viewer's notifications: folded into entries, and checked as they may be seen now.

A page reads all kept notifications of the viewer, 1,000 at most, in one call. All likes of one pin
are one entry, at the place of the newest like. Then the page loads the actors and subjects of its
own entries. An entry whose subject the viewer can't see, or whose actor is hidden by a block, is
muted or gone, is left out.
"""

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.protocols import NOTIFICATIONS_KEPT, Inbox, NotificationKind
from datasources.protocols import Notification as Act
from datasources.records import Board, Comment, Pin, User
from feed_engine.feeds.preferences import known_muted
from feed_engine.own_data.requests import is_ready, requested
from feed_engine.times import moment
from resolvers import blocks, visibility
from resolvers.context import Context
from resolvers.cursors import CursorKind, Cursors
from resolvers.paging import FIRST, PageInfo, page_size
from resolvers.scan_limit import Further
from resolvers.visibility import Invitation

MOST_COUNTED = 100
"""Unread entries that are counted, at most."""
MOST_ACTORS = 3
"""Actors of an entry who are loaded. If none of them can be seen, the entry is left out."""
Subject = Pin | Board | Comment | Invitation


class Entry(NamedTuple):
    """Acts that are shown as one: the likes of a pin, or one act of another kind. Newest first."""

    acts: Sequence[Act]

    @property
    def place(self) -> int:
        """The place of the entry: of its newest act."""
        return self.acts[0].place


@dataclass(frozen=True, slots=True)
class Notification:
    """An entry as the viewer may see it. `found_actor` is an error if the actor's server did not
    answer. `subject` is what the act was about: the board or pin, the comment, or the
    invitation."""

    act: Act
    other_count: int
    read: bool
    found_actor: User | BaseException
    found_subject: Subject | BaseException | None
    found_saved: Pin | BaseException | None

    @property
    def id(self) -> str:
        """The entry's own id, which stays the same while further likes are folded into it."""
        act = self.act
        if act.kind is NotificationKind.LIKED:
            return f"{act.kind.name}-{act.subject_id}"
        return f"{act.kind.name}-{act.subject_id}-{act.actor_id}-{act.about_id}"

    @property
    def at(self) -> datetime:
        return moment(self.act.at)

    @property
    def type(self) -> NotificationKind:
        return self.act.kind

    @property
    def actor(self) -> User | None:
        if self.act.kind is NotificationKind.DATA_READY:
            return None  # no user did it
        if isinstance(self.found_actor, BaseException):
            raise self.found_actor
        return self.found_actor

    @property
    def subject(self) -> Subject | None:
        if isinstance(self.found_subject, BaseException):
            raise self.found_subject
        return self.found_subject

    @property
    def saved_pin(self) -> Pin | None:
        if isinstance(self.found_saved, BaseException):
            raise self.found_saved
        return self.found_saved


@dataclass(frozen=True, slots=True)
class NotificationEdge:
    """An entry, and the place of its newest act."""

    node: Notification
    place: int
    cursors: Cursors
    viewer_id: int

    @property
    def cursor(self) -> str:
        return self.cursors.encode(CursorKind.NOTIFICATIONS, self.viewer_id, self.place)


@dataclass(frozen=True, slots=True)
class NotificationConnection:
    edges: list[NotificationEdge]
    page_info: PageInfo


async def notifications(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    unread_only: bool = False,
) -> NotificationConnection:
    """The viewer's notifications, newest first."""
    viewer_id, size, cursors = context.require_viewer(), page_size(first), context.cursors
    place = None if after is None else place_of(context, after, "after")
    found = await read_entries(context, unread=False)
    entries = [it for it in found.entries if place is None or it.place < place]
    if unread_only:
        entries = [it for it in entries if it.place > found.read_up_to]
    edges, further = list[NotificationEdge](), Further(context.scanning, size)

    def page(has_next: bool, end: int | None) -> NotificationConnection:
        start = edges[0].cursor if edges else None
        last = None if end is None else cursors.encode(CursorKind.NOTIFICATIONS, viewer_id, end)
        return NotificationConnection(edges, PageInfo(has_next, after is not None, start, last))

    limit, at = size + 1, 0
    while True:
        some = entries[at : at + limit]
        at += len(some)
        for entry, shown in zip(some, await visible(context, some, found.read_up_to), strict=True):
            if shown is None or (unread_only and shown.read):
                continue
            if len(edges) == size:
                return page(True, edges[-1].place)
            edges.append(NotificationEdge(shown, entry.place, cursors, viewer_id))
        if at >= len(entries):
            return page(False, edges[-1].place if edges else None)
        if not (limit := further.rows()):
            return page(True, some[-1].place)


async def unread_notification_count(context: Context) -> int | None:
    """The number of unread entries, MOST_COUNTED at most; None without a viewer."""
    if context.viewer_id is None:
        return None
    return len(await unread(context))


async def unread(context: Context) -> list[Notification]:
    """The newest unread entries, MOST_COUNTED at most."""
    found = await read_entries(context, unread=True)
    shown, further = list[Notification](), Further(context.scanning, MOST_COUNTED)
    limit, at = MOST_COUNTED, 0
    while limit and at < len(found.entries) and len(shown) < MOST_COUNTED:
        some = found.entries[at : at + limit]
        at += len(some)
        shown += [it for it in await visible(context, some, found.read_up_to) if it is not None]
        limit = further.rows()
    return shown[:MOST_COUNTED]


class Entries(NamedTuple):
    """The entries of a viewer, newest first, and the place up to which the viewer has read."""

    read_up_to: int
    entries: Sequence[Entry]


async def read_entries(context: Context, *, unread: bool) -> Entries:
    """The viewer's entries, without the acts of users whom a block hides or whom the viewer
    mutes."""
    viewer_id = context.require_viewer()
    store = context.stores.shards.notifications
    inbox, muted, _ = await asyncio.gather(
        store.of_user(viewer_id, NOTIFICATIONS_KEPT, unread=unread),
        known_muted(context.feeds, viewer_id),
        blocks.load(context),
    )
    hidden = await blocks.hidden(context, {it.actor_id for it in inbox.notifications})
    return Entries(inbox.read_up_to, fold(inbox, hidden | muted))


def fold(inbox: Inbox, hidden: Set[int]) -> list[Entry]:
    """The entries of an inbox, newest first. The likes of one pin are one entry."""
    entries, of_pins = list[Entry](), dict[int, list[Act]]()
    for act in inbox.notifications:
        if act.actor_id in hidden:
            continue
        if act.kind is not NotificationKind.LIKED:
            entries.append(Entry([act]))
        elif act.subject_id in of_pins:
            of_pins[act.subject_id].append(act)
        else:
            of_pins[act.subject_id] = acts = [act]
            entries.append(Entry(acts))
    return entries


async def visible(
    context: Context, entries: Sequence[Entry], read_up_to: int
) -> list[Notification | None]:
    """Each entry as the viewer may see it; None for an entry that the viewer may not see."""
    acts = [entry.acts[0] for entry in entries]
    of_users = (NotificationKind.FOLLOWED_USER, NotificationKind.DATA_READY)
    of_pins = (NotificationKind.SAVED, NotificationKind.LIKED)
    pin_ids = [act.subject_id for act in acts if act.kind in of_pins]
    pin_ids += [act.about_id for act in acts if act.kind is NotificationKind.SAVED]
    of_boards = (NotificationKind.FOLLOWED_BOARD, NotificationKind.JOINED_BOARD)
    board_ids = [act.subject_id for act in acts if act.kind in of_boards]
    invited_ids = [act.subject_id for act in acts if act.kind is NotificationKind.INVITED]
    comment_ids = [act.about_id for act in acts if act.kind is NotificationKind.COMMENTED]
    actor_ids = [act.actor_id for entry in entries for act in entry.acts[:MOST_ACTORS]]
    users, pins, boards, comments, invitations = await asyncio.gather(
        visibility.users(context, list(dict.fromkeys(actor_ids))),
        visibility.pins(context, list(dict.fromkeys(pin_ids))),
        visibility.boards(context, list(dict.fromkeys(board_ids))),
        visibility.comments(context, comment_ids),
        visibility.invitations(context, invited_ids),
    )

    def seen(entry: Entry) -> Notification | None:
        known = [act for act in entry.acts[:MOST_ACTORS] if act.actor_id in users]
        if not known:
            return None
        act, saved = known[0], None
        subject: Subject | BaseException | None = None
        if act.kind is NotificationKind.COMMENTED:
            subject = comments.get(act.about_id)
        elif act.kind in of_boards:
            subject = boards.get(act.subject_id)
        elif act.kind is NotificationKind.INVITED:
            subject = invitations.get(act.subject_id)
        elif act.kind in of_pins:
            subject = pins.get(act.subject_id)
        elif act.kind is NotificationKind.DATA_READY and not _may_load(users[act.actor_id], act):
            return None
        if subject is None and act.kind not in of_users:
            return None
        if act.kind is NotificationKind.SAVED and (saved := pins.get(act.about_id)) is None:
            return None
        gone = len(entry.acts[:MOST_ACTORS]) - len(known)
        return Notification(
            act=act,
            other_count=len(entry.acts) - 1 - gone,
            read=act.place <= read_up_to,
            found_actor=users[act.actor_id],
            found_subject=subject,
            found_saved=saved,
        )

    return [seen(entry) for entry in entries]


def _may_load(viewer: User | BaseException, act: Act) -> bool:
    """Whether the viewer may load the file that DATA_READY is about."""
    export = requested(viewer, act.about_id) if isinstance(viewer, User) else None
    return export is not None and is_ready(export, now_ms())


def place_of(context: Context, cursor: str, argument: str) -> int:
    """The place of a cursor of the viewer's notifications. Raises BadInput."""
    place = context.cursors.decode(CursorKind.NOTIFICATIONS, cursor, argument)
    if place.id != context.viewer_id:
        raise BadInput(f"{argument} is a cursor of another viewer's notifications", argument)
    return place.sequence

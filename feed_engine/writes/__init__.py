"""Every write: one transaction on one shard, completed before it is acknowledged.

All writes take an optional idempotency `key`. A write that is sent again with the same key changes
nothing, and returns the same answer, with the objects as they are at that time (perhaps deleted
since). All writes raise subclasses of RequestError for errors that the client can correct, and
StoreUnavailable when the write is kept but not completed yet.
"""

from feed_engine.ordering.arrange import reorder_pins
from feed_engine.ordering.reorder import reorder_pin
from feed_engine.transactions.inputs import (
    BoardChange,
    Deletion,
    EmailChange,
    NameChange,
    NewBoard,
    NewComment,
    NewPin,
    NewReport,
    NewSection,
    NewUser,
    PinChange,
    ProfileChange,
    SubjectChange,
)
from feed_engine.transactions.results import (
    BoardWritten,
    CommentWritten,
    PinInSection,
    PinMoved,
    PinWritten,
    Reordered,
    SectionReordered,
    SectionWritten,
)
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.blocks import block_user, unblock_user
from feed_engine.writes.boards import create_board, delete_board, update_board
from feed_engine.writes.collaborators import (
    accept_invitation,
    decline_invitation,
    invite_collaborator,
    leave_board,
    remove_collaborator,
)
from feed_engine.writes.comments import create_comment, delete_comment
from feed_engine.writes.data_exports import request_my_data
from feed_engine.writes.events import delete_events, record_events
from feed_engine.writes.follows import follow, unfollow
from feed_engine.writes.keys import change_email, change_subject, change_user_name
from feed_engine.writes.likes import like_pin, unlike_pin
from feed_engine.writes.move import move_pin
from feed_engine.writes.notifications import mark_notifications_read
from feed_engine.writes.pins import create_pin, delete_pin, repin, update_pin
from feed_engine.writes.preferences import (
    hide_pin,
    mute_user,
    see_as_usual,
    see_less,
    see_more,
    unhide_pin,
    unmute_user,
)
from feed_engine.writes.reports import report
from feed_engine.writes.sections import (
    create_section,
    delete_section,
    move_pin_to_section,
    rename_section,
    reorder_section,
)
from feed_engine.writes.sessions import sign_out_everywhere
from feed_engine.writes.uploads import create_upload
from feed_engine.writes.users import sign_up, update_profile

__all__ = [
    "BoardChange",
    "BoardWritten",
    "CommentWritten",
    "Deletion",
    "EmailChange",
    "NameChange",
    "NewBoard",
    "NewComment",
    "NewPin",
    "NewReport",
    "NewSection",
    "NewUser",
    "PinChange",
    "PinInSection",
    "PinMoved",
    "PinWritten",
    "ProfileChange",
    "Reordered",
    "SectionReordered",
    "SectionWritten",
    "SubjectChange",
    "accept_invitation",
    "block_user",
    "change_email",
    "change_subject",
    "change_user_name",
    "create_board",
    "create_comment",
    "create_pin",
    "create_section",
    "create_upload",
    "decline_invitation",
    "delete_account",
    "delete_board",
    "delete_comment",
    "delete_events",
    "delete_pin",
    "delete_section",
    "follow",
    "hide_pin",
    "invite_collaborator",
    "leave_board",
    "like_pin",
    "mark_notifications_read",
    "move_pin",
    "move_pin_to_section",
    "mute_user",
    "record_events",
    "remove_collaborator",
    "rename_section",
    "reorder_pin",
    "reorder_pins",
    "reorder_section",
    "repin",
    "report",
    "request_my_data",
    "see_as_usual",
    "see_less",
    "see_more",
    "sign_out_everywhere",
    "sign_up",
    "unblock_user",
    "unfollow",
    "unhide_pin",
    "unlike_pin",
    "unmute_user",
    "update_board",
    "update_pin",
    "update_profile",
]

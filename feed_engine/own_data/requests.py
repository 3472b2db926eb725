"""A user's request for a file with their own data: its times, and the file's name.

The request is in the user's record. A file is named by its user and by the time of its request, so
work that is late or repeated touches the file of its own request only. The file is in the folder of
the user's pictures, with which it is removed when the account is deleted.
"""

from datasources.records import DataExport, User
from feed_engine.times import DAY

AGAIN_AFTER = DAY
"""The time between two requests of a user."""
KEPT_FOR = 7 * DAY
"""The time for which a complete file is kept."""
_FOLDER = "exports"


def folder(user_id: int) -> str:
    """The folder of a user's files."""
    return f"{user_id}/{_FOLDER}"


def file_name(user_id: int, at: int) -> str:
    """The name, in the store of pictures, of the file that was requested at an epoch ms. The names
    of a user's files are in the order of their requests."""
    return f"{folder(user_id)}/{at:015}.zip"


def is_export(name: str) -> bool:
    """Whether a name in the store of pictures is of such a file."""
    return name.split("/")[1:2] == [_FOLDER]


def expires(export: DataExport) -> int | None:
    """The epoch ms at which the file is no longer given; None if it is not complete."""
    return export.ready + KEPT_FOR if export.ready else None


def is_ready(export: DataExport, now: int) -> bool:
    """Whether the file is complete, and its time is not over."""
    end = expires(export)
    return end is not None and now < end


def requested(user: User, at: int) -> DataExport | None:
    """The request of an epoch ms, if it is the last one of a user who is not deleted."""
    export = user.data_export
    return export if user.active and export is not None and export.requested == at else None

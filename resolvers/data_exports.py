"""The file with the viewer's own data."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from datasources.clocks import now_ms
from datasources.records import User
from feed_engine.own_data.requests import expires, is_ready
from feed_engine.times import moment
from resolvers.context import Context


class ExportState(Enum):
    """The state of a file with a user's data."""

    PENDING = "PENDING"
    READY = "READY"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True)
class DataExport:
    """A request for the file. `bytes` is the file's size; `url` is its signed address."""

    state: ExportState
    requested_at: datetime
    ready_at: datetime | None = None
    expires_at: datetime | None = None
    bytes: float | None = None
    url: str | None = None


def data_export(context: Context, user: User) -> DataExport | None:
    """The viewer's last request; None for all other users, and without a request."""
    export = user.data_export
    if export is None or user.id != context.viewer_id:
        return None
    end, requested_at = expires(export), moment(export.requested)
    if end is None:
        return DataExport(ExportState.PENDING, requested_at)
    ready = is_ready(export, now_ms())
    sign = context.sign_export if ready else None
    return DataExport(
        state=ExportState.READY if ready else ExportState.EXPIRED,
        requested_at=requested_at,
        ready_at=moment(export.ready),
        expires_at=moment(end),
        bytes=float(export.size),
        url=None if sign is None else sign(user.id, export.requested),
    )

"""The errors of stores and requests that cross a boundary of Pinway, as one small tree.

    PinwayError
    ├── ConfigError           a setting is wrong, or names something that doesn't exist
    ├── StoreError            a store did not do what was requested
    │   ├── StoreTimeout          no answer within the deadline; a write may have happened
    │   ├── StoreUnavailable      can't be reached, or refused; a write may have happened
    │   │   ├── Refused               no server listens at the address
    │   │   └── Unfinished            the write is kept, and will be completed later
    │   ├── StoreConflict         a concurrent change won; nothing was written, try again
    │   │   └── StaleTopology         the shard is not, or no longer, on that server
    │   ├── Exhausted             the writer's quota for the day is used up; nothing was written
    │   └── StoreCorrupt          stored data can't be read
    │       └── Damaged               stored data can't be read; the message says what to do
    └── RequestError          the request can't be answered; `code` says why
        ├── BadInput              BAD_USER_INPUT
        ├── Unauthenticated       UNAUTHENTICATED
        ├── Forbidden             FORBIDDEN
        ├── NotFound              NOT_FOUND
        ├── Conflict              CONFLICT
        ├── RateLimited           RATE_LIMITED
        └── QuotaExceeded         QUOTA_EXCEEDED

A driver's own exceptions stay inside its backend, which raises one of these instead. The executor's
own errors are GraphQLErrors (`gateway/execution/levels/failures.py`).
"""

from typing import ClassVar


class PinwayError(Exception):
    """The root of the tree. `code` is the error's `extensions.code` for GraphQL clients."""

    code: ClassVar[str] = "INTERNAL"


class ConfigError(PinwayError):
    """A setting is wrong, or names something that can't be used. The message is one line: which
    setting, and what to do."""


class StoreError(PinwayError):
    """A store did not do what was requested. The message names the store, and never has a
    secret."""

    code = "UNAVAILABLE"


class StoreTimeout(StoreError):
    code = "TIMEOUT"


class StoreUnavailable(StoreError):
    pass


class Refused(StoreUnavailable):
    """The connection was refused: no server listens at that address."""


class Unfinished(StoreUnavailable):
    """A write that is kept, but not completed everywhere. The message is for the client: it says
    what is kept, and how to get the answer later."""


class StoreConflict(StoreError):
    code = "CONFLICT"


class StaleTopology(StoreConflict):
    code = "UNAVAILABLE"


class Exhausted(StoreError):
    code = "QUOTA_EXCEEDED"


class StoreCorrupt(StoreError):
    code = "INTERNAL"


class Damaged(StoreCorrupt):
    """Stored data that can't be read. The message says what to do about it."""


class RequestError(PinwayError):
    """An error that the client can correct. `field` is the path of the wrong input."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.message, self.field = message, field


class BadInput(RequestError):
    code = "BAD_USER_INPUT"


class Unauthenticated(RequestError):
    code = "UNAUTHENTICATED"


class Forbidden(RequestError):
    code = "FORBIDDEN"


class NotFound(RequestError):
    code = "NOT_FOUND"


class Conflict(RequestError):
    code = "CONFLICT"


class RateLimited(RequestError):
    code = "RATE_LIMITED"


class QuotaExceeded(RequestError):
    """The viewer has written as much as a day allows. `retry_after`: seconds until the next day."""

    code = "QUOTA_EXCEEDED"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after

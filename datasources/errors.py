"""The errors of stores and requests that cross a boundary of Pinway, as one small tree.

    PinwayError
    ├── ConfigError           a setting is wrong, or what it names is not there
    ├── StoreError            a store did not do what was asked
    │   ├── StoreTimeout          no answer within the deadline; a write may have happened
    │   ├── StoreUnavailable      can't be reached, or refused; a write may have happened
    │   │   ├── Refused               nothing listens at that address
    │   │   └── Unfinished            the write is kept and will be completed, but can't be now
    │   ├── StoreConflict         a concurrent change won; nothing was written, try again
    │   │   └── StaleTopology         this shard is not that server's (any more), or moved on
    │   └── StoreCorrupt          what is stored can't be read
    │       └── Damaged               and its message says what to do about it
    └── RequestError          the request can't be answered as asked; `code` says why
        ├── BadInput              BAD_USER_INPUT
        ├── Unauthenticated       UNAUTHENTICATED
        ├── Forbidden             FORBIDDEN
        ├── NotFound              NOT_FOUND
        ├── Conflict              CONFLICT
        └── RateLimited           RATE_LIMITED

Drivers' own exceptions stop at their backend and become one of these. The executor's own errors are
GraphQLErrors (`gateway/execution/run/errors.py`).
"""

from typing import ClassVar


class PinwayError(Exception):
    """The root; `code` is what a GraphQL client sees in `extensions.code`."""

    code: ClassVar[str] = "INTERNAL"


class ConfigError(PinwayError):
    """A setting is wrong, or names something that can't be used. The message is one line: which
    setting, and what to do."""


class StoreError(PinwayError):
    """A store did not do what was asked of it. The message names the store, never a secret."""

    code = "UNAVAILABLE"


class StoreTimeout(StoreError):
    code = "TIMEOUT"


class StoreUnavailable(StoreError):
    pass


class Refused(StoreUnavailable):
    """The connection was refused: no server listens at that address."""


class Unfinished(StoreUnavailable):
    """A write that is kept but not complete everywhere. The message is for the client: it says what
    is kept, and how to ask again."""


class StoreConflict(StoreError):
    code = "CONFLICT"


class StaleTopology(StoreConflict):
    code = "UNAVAILABLE"


class StoreCorrupt(StoreError):
    code = "INTERNAL"


class Damaged(StoreCorrupt):
    """Stored data that can't be read. The message says what to do about it."""


class RequestError(PinwayError):
    """Something the client can act on. `field` is the path of the input that was wrong."""

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

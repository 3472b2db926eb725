"""What a request's execution is at: what all its parts read, and leave there for others.

It is apart from `Run`, which does the work with those parts, so that their compiled code knows it.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateway.execution.attempts import Given
    from gateway.execution.goals import WaitingLoad
    from gateway.execution.large import Entry
    from gateway.execution.plan import Variant
    from gateway.execution.tasks import Light
    from gateway.execution.waiting import Waiting


class State:
    """Of one execution."""

    __slots__ = (
        *("ambient", "context", "following", "given", "in_line", "litter", "loads", "lone"),
        *("loop", "made", "queue", "root", "sliced", "unrested", "variables", "variant"),
        "waiting",
    )

    variant: Variant
    context: Any
    root: Any
    variables: Mapping[str, Any]
    loop: AbstractEventLoop
    queue: deque[Entry]
    waiting: set[Waiting | WaitingLoad]
    """The columns of which something is waited for."""
    loads: list[WaitingLoad | Light]
    """Those that wait for a loader, which doesn't know it yet: until the round's end."""
    litter: list[Sequence[Any]]
    """What slices of something large held, to be let go of a slice at a time."""
    given: Given | None
    """What resolvers gave before, of objects that are made once more."""
    ambient: Context | None
    """What is done now is done in this context, a resolver's; None for the request's own."""
    following: Context | None
    """The context of the steps from now on, where it isn't the request's own any more."""
    in_line: bool
    """Whether this step is one of several, and each awaitable in it lies below the one before.
    Those are awaited in the request's own task by graphql-core: the next step sees what they set.
    """
    lone: Light | None
    """The only coroutine waited for, as long as it is; its wake-up isn't asked for yet. That of any
    other is at once, as asyncio.Task does: a loader's batch hangs on the order."""
    made: int
    """Objects."""
    unrested: int
    """Those since the clock was last looked at."""
    sliced: bool
    """Whether something was large enough to be worked off in slices."""

    def has_values(self, waiting: Waiting | WaitingLoad) -> None:
        """Some of what was waited for has come."""
        raise NotImplementedError

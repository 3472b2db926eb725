"""The rule of leases, for every cache: readers and writers in any order show nothing overwritten.

Readers of two gateways ask, read the store when they hold a lease, and fill at any time. Writers
commit and then drop. A reader gets at least the newest version whose drop has returned.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from datasources.protocols import Lease

STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "fill", "commit", "drop", "expire"]), st.integers(0, 1)),
    min_size=12,
    max_size=40,
)
"""Steps for `follow`: what happens, and the gateway that does it."""


class Entry(NamedTuple):
    """One entry of a cache, as one gateway uses it. Its values are versions from 0."""

    ask: Callable[[], Awaitable[int | Lease | None]]
    fill: Callable[[Lease, int], Awaitable[None]]
    drop: Callable[[], Awaitable[None]]


async def follow(
    steps: Sequence[tuple[str, int]],
    gateways: Sequence[Entry],
    expire: Callable[[], Awaitable[None]],
) -> None:
    """Do the steps, and check each answer. `expire` ends all leases."""
    stored = dropped = 0
    held: dict[int, tuple[Lease, int]] = {}
    for step, who in [*steps, ("ask", 0)]:
        entry = gateways[who]
        if step == "ask":
            answer = await entry.ask()
            if isinstance(answer, Lease):
                held[who] = answer, stored
            elif answer is not None:
                assert answer >= dropped
        elif step == "fill" and who in held:
            await entry.fill(*held.pop(who))
        elif step == "commit":
            stored += 1
        elif step == "drop":
            await entry.drop()
            dropped = stored
        elif step == "expire":
            await expire()

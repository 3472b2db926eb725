"""The last step of a migration: the source refuses writes, its last changes come to the shards, and
Pinway takes the writes."""

import asyncio
import os
import signal
import time
from typing import NamedTuple

from datasources.errors import ConfigError, StoreConflict, StoreError, StoreTimeout
from datasources.sql.source_tables import LogPosition
from gateway.operate.migration.following import Follower
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.waiting import SECONDS, telling_waits

DONE = "cut over"
"""The journal's fact that Pinway takes the writes: the source's rows are history since."""
ENDED = "went back"
"""The journal's fact that the source takes the writes again, after a way back."""
_NEAR = 0.5
"""The part of the time that the shards may be behind when the source's writes are stopped."""
_ROUNDS = 300  # of which one must be as quick


class CutOver(NamedTuple):
    """The seconds for which nobody took writes, the source's last position, and the rows that were
    looked at meanwhile."""

    refused: float
    position: LogPosition
    rows: int


def check_not_done(journal: Journal) -> None:
    """Raises ConfigError if Pinway takes the writes already: the source would overwrite them."""
    if journal.fact(DONE) is not None:
        raise ConfigError(
            "this migration was cut over: Pinway has the newer state, which the source would "
            "overwrite"
        )


async def cut_over(follower: Follower, journal: Journal, *, within: float, then: str) -> CutOver:
    """Stop the source's writes for at most `within` seconds, bring the last changes, and run the
    command `then`, which lets writes come to Pinway. If anything fails or takes longer, the source
    takes writes again, and StoreTimeout, StoreConflict or another StoreError is raised."""
    await _come_near(follower, within * _NEAR)
    began = time.monotonic()
    async with follower.source_stopped(within) as stop:
        try:
            async with asyncio.timeout(within - (time.monotonic() - began)):
                await follower.check_server()
                last = await stop.position()
                rows, read = 0, None
                while read != last:
                    found = await follower.round(lambda _: None)
                    rows, read = rows + found.rows, found.read
                    if found.behind is not None and read != last:
                        raise StoreConflict(
                            f"the source's log ends at {read}, and the server says {last}"
                        )
                await stop.keep()
                try:
                    await run(then, "the source takes writes again")
                except BaseException:
                    await stop.undo()
                    raise
        except TimeoutError:
            raise StoreTimeout(
                f"the cut-over did not end within {within:g} s: the source takes writes again"
            ) from None
        refused = time.monotonic() - began
    with journal.spool.transaction():
        journal.set_fact(DONE, str(last))
        journal.forget_fact(ENDED)
    return CutOver(refused, last, rows)


async def _come_near(follower: Follower, near: float) -> None:
    """Follow until little is left for the time in which writes are refused."""
    for _ in range(_ROUNDS):
        found = await telling_waits(follower.round(lambda _: None), follower.waits, _refuse)
        if found.behind is not None and found.behind < near:
            return
    raise StoreError(
        f"the shards do not come nearer than {near:g} s to the source: try when fewer people write"
    )


def _refuse(waits: str) -> None:
    raise StoreTimeout(
        f"a read of the source waits for over {SECONDS:g} s, and nothing has changed: {waits}"
    )


async def run(command: str, otherwise: str) -> None:
    """Run the operator's command. Raises StoreError if it fails; `otherwise` says what is then."""
    if not command:
        return
    process = await asyncio.create_subprocess_shell(
        command, stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        _, error = await process.communicate()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started
            await process.wait()
    if process.returncode:
        text = error.decode(errors="replace").strip()
        raise StoreError(
            f"{command!r} ended with the status {process.returncode}: {text}: {otherwise}"
        )

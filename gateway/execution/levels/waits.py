"""Waits for awaited values. Loads batches if nothing else can add a key.

A task whose value has no position in the response runs on beside the others, until the last value
of the response has arrived. Cancelling it at once would also cancel the future that it awaits,
which may be a loader's or a cache's: a resolver of another position may await the same future, or
get it later.
"""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, Future
from collections.abc import Generator, Iterable, Sequence
from typing import Any

from gateway.execution.levels.loads import PendingBatch, PendingLoad
from gateway.execution.model.state import State
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.resolver_task import ResolverTask
from gateway.execution.tasks.sharing import awaited_elsewhere
from loaders.batches import Batch


class Waits:
    """The waits of a request: the values that have arrived, and the tasks that are to end."""

    __slots__ = ("arrivals", "cancelled_tasks", "fatal", "unwanted", "waiter")

    def __init__(self) -> None:
        self.arrivals: list[Any] = []
        """The pending columns whose values have arrived."""
        self.unwanted: set[ResolverTask] = set()
        """The tasks that still run, although their value has no position in the response."""
        self.waiter: Future[None] | None = None
        """The future that the request's own task awaits while the run waits for values."""
        self.cancelled_tasks: set[Any] = set()
        """The tasks that were cancelled with the request, or at its end: resolvers, and tasks in
        dropped values. A second cancellation would end their cleanup."""
        self.fatal: BaseException | None = None
        """A resolver's BaseException that is not an Exception: it ends the request."""

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def wake_later(self, _: Any) -> None:
        self.wake()

    def has_values(self, waiting: Any) -> None:
        self.arrivals.append(waiting)
        self.wake()

    def unwanted_ended(self, task: ResolverTask) -> None:
        self.unwanted.discard(task)
        if not self.unwanted:
            self.wake()

    def failed_with(self, error: BaseException) -> None:
        if self.fatal is None:
            self.fatal = error
        self.wake()

    # -- waiting

    async def for_more(self, run: State) -> None:
        """Wait until awaited values have arrived, unless an `only_batch` gives them."""
        loads, run.loads = run.loads, []
        if loads:
            tasks = self._load_batches(run, loads)
            if tasks:
                try:
                    await Turn(run)
                except BaseException:
                    for task in tasks:
                        task.release()
                    raise
                for task in tasks:
                    task.next_step()
                run.restore_task()
        if self.arrivals:
            return
        if all(isinstance(column, PendingBatch) for column in run.waiting):
            # The resolvers that waited for these batches have ended, for example by a timeout.
            self.discard([task for column in run.waiting for task in column.tasks])
        else:
            await self._wait(run)

    def only_batch(self, run: State) -> Batch | None:
        """The only batch that the request waits for, if it is not scheduled yet; else None."""
        if len(run.loads) == 1 and not (run.waiting or self.unwanted or run.dropped):
            only = run.loads[0]
            if isinstance(only, PendingLoad):
                batch = only.load.only_missing()
                if batch is not None and not batch.asked:
                    return batch
        return None

    def _load_batches(
        self, run: State, loads: list[PendingLoad | ResolverTask]
    ) -> list[ResolverTask]:
        """Load the batches of these loads, which were held back.

        If the request awaits nothing but loads, nothing can add a key to the batches, and the run
        loads them at once. Otherwise the loads are released, and the loaders load them in their own
        turn.

        Returns the tasks of the batches if each of them only yielded to the event loop in its first
        step: the caller runs their next step one turn later.
        """
        others = 0
        for column in run.waiting:
            others += column.left
        for load in loads:
            others -= not isinstance(load, PendingLoad)
        if self.unwanted or run.dropped or others:  # these may add keys
            for load in loads:
                load.release()
            return []
        wanted: dict[Batch, list[PendingLoad | ResolverTask]] = {}
        others_ask = set()
        for load in loads:
            awaited = load.load if isinstance(load, PendingLoad) else load.waits
            for batch in awaited.missing():
                if batch.asked:
                    others_ask.add(load)
                elif batch in wanted:
                    wanted[batch].append(load)
                else:
                    wanted[batch] = [load]
        batches = [PendingBatch(run, batch, of) for batch, of in wanted.items()]
        for load in loads:
            if not isinstance(load, PendingLoad) or load in others_ask:
                load.release()
            else:  # its batches continue it
                run.waiting.add(load)
        begun = []
        for waiting in batches:
            begun.append(waiting.first_step())
        if not begun:
            return []
        run.restore_task()
        for task in begun:
            if not task.only_yielded():
                break
        else:
            return begun
        for task in begun:
            if not task.done_:
                task.release()
        return []

    async def _wait(self, run: State) -> None:
        if self.fatal is not None:
            return
        waiter = self.waiter = Waiter(run)
        try:
            await waiter
        finally:
            # The event loop keeps the waiter until this turn ends; the run may be freed before.
            self.waiter = waiter.run = None

    # -- cancellation

    def cancel_tasks(self, run: State) -> None:
        """Cancel all tasks that have not ended: the request was cancelled."""
        run.cancelled = True
        waiting = [task for column in run.waiting for task in column.tasks]
        for task in {*waiting, *self.unwanted} - self.cancelled_tasks:
            if not task.done_:
                self.cancelled_tasks.add(task)
                task.cancel()
        self._cancel_dropped(run)

    def _cancel_dropped(self, run: State) -> None:
        for task in run.dropped:
            if task not in self.cancelled_tasks:
                self.cancelled_tasks.add(task)
                task.cancel()

    def discard(self, tasks: Sequence[ResolverTask]) -> None:
        """Stop waiting for tasks whose value has no position in the response."""
        for task in tasks:
            if not task.unwanted:
                task.unwanted = True
                self.unwanted.add(task)
                task.sink.count_down()

    def discard_unwanted(self, run: State, waiting: Iterable[Any]) -> None:
        """Stop waiting for the tasks and loads of these columns whose values have no position any
        more."""
        unwanted = []
        for column in waiting:
            if not isinstance(column, PendingLoad):
                unwanted += [
                    task
                    for task in column.tasks
                    if not (task.done_ or task.unwanted or column.wanted(task.index))
                ]
            elif not column.wanted(0):
                column.forget()
                if column in run.loads:
                    run.loads.remove(column)
        self.discard(unwanted)

    async def end_unwanted(self, run: State) -> None:
        """Cancel the tasks whose values are not needed, and wait until they have ended: all values
        of the response have arrived."""
        self.cancelled_tasks |= self.unwanted
        for task in list(self.unwanted):
            task.stop()
        while self.unwanted:
            await self._wait(run)
        dropped = [task for task in run.dropped if not awaited_elsewhere(task)]
        self.cancelled_tasks.update(dropped)
        for future in dropped:
            future.cancel()
        if dropped:
            await self._ended(run, dropped)

    async def _ended(self, run: State, tasks: Sequence[Future[Any]]) -> None:
        """Wait until tasks have ended. A cancellation of the request reaches all others at once."""
        everything = asyncio.ensure_future(asyncio.wait(tasks))
        everything.add_done_callback(self.wake_later)
        try:
            while not everything.done():
                await self._wait(run)
        finally:
            everything.cancel()

    async def abandon(self, run: State) -> None:
        """Cancel all pending tasks and loads, and wait until they have ended."""
        for column in pending_columns(run):
            if isinstance(column, PendingLoad):
                column.forget()
        for waiting in {*run.waiting, *self.arrivals}:
            drop(waiting.values)
        tasks = [task for waiting in run.waiting for task in waiting.tasks]
        self.discard([task for task in tasks if not task.done_])
        for task in self.unwanted - self.cancelled_tasks:
            task.cancel()
        self._cancel_dropped(run)
        while self.unwanted:
            self.waiter = run.loop.create_future()
            try:
                await self.waiter
            except CancelledError:
                for task in list(self.unwanted):
                    task.cancel()
            finally:
                self.waiter = None
        while running := [task for task in run.dropped if not task.done()]:
            try:
                await asyncio.wait(running)
            except CancelledError:
                for dropped in running:
                    dropped.cancel()


def pending_columns(run: State) -> list[Any]:
    """Returns everything that the run waits for, or holds back."""
    return [*run.waiting, *(load for load in run.loads if isinstance(load, PendingLoad))]


class Waiter(Future[None]):
    """A future that a request awaits while its tasks run. Cancelling the request cancels its tasks
    at once, as with `asyncio.gather`. Otherwise a task whose awaited future is done would take its
    next step before the request itself learns of the cancellation."""

    def __init__(self, run: State) -> None:
        Future.__init__(self, loop=run.loop)
        self.run: State | None = run

    def cancel(self, msg: Any = None) -> bool:
        if self.run is not None:
            self.run.waits.cancel_tasks(self.run)
        return Future.cancel(self, msg)


class Turn(Waiter):
    """An awaitable that lets the event loop take one turn, as `asyncio.sleep(0)` does. A
    cancellation of the request in this turn cancels its tasks at once: after `asyncio.sleep(0)`, a
    task whose awaited future is done would take its next step before."""

    def __init__(self, run: State) -> None:
        Waiter.__init__(self, run)
        self.set_result(None)

    def __await__(self) -> Generator[Any, None, None]:
        self._asyncio_future_blocking = True
        try:
            yield self
        finally:
            self.run = None

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

from gateway.execution.model.state import Pending
from gateway.execution.run.large import forget
from gateway.execution.run.pending import PendingBatch, PendingLoad
from gateway.execution.run.starting import Starting
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.resolver_task import ResolverTask, awaited_elsewhere
from loaders.batches import Batch

BUDGET = 0.004
"""The maximum seconds of work between rests of the event loop."""


class Waiting(Starting):
    """The part of a run that waits."""

    __slots__ = ("_arrivals", "_cancelled_tasks", "_since", "_unwanted", "_waiter")

    def __init__(self) -> None:
        Starting.__init__(self)
        self._arrivals: list[Any] = []
        """The pending columns whose values have arrived."""
        self._unwanted: set[ResolverTask] = set()
        """The tasks that still run, although their value has no position in the response."""
        self._waiter: Future[None] | None = None
        """The future that the request's own task awaits while the run waits for values."""
        self.cancelled = False
        self._cancelled_tasks: set[Any] = set()
        """The tasks that were cancelled with the request, or at its end: resolvers, and tasks in
        dropped values. A second cancellation would end their cleanup."""
        self._since = 0.0
        """The time at which this turn of work began."""

    async def _wait_for_more(self) -> None:
        """Wait until awaited values have arrived."""
        loads, self.loads = self.loads, []
        if loads:
            tasks = self._load_batches(loads)
            if tasks:
                try:
                    await _Turn(self)
                except BaseException:
                    for task in tasks:
                        task.release()
                    raise
                for task in tasks:
                    task.next_step()
                self.restore_task()
        if self._arrivals:
            return
        if all(isinstance(column, PendingBatch) for column in self.waiting):
            # The resolvers that waited for these batches have ended, for example by a timeout.
            self._discard([task for column in self.waiting for task in column.tasks])
        else:
            await self._wait()

    def _only_batch(self) -> Batch | None:
        """The only batch that the request waits for, if it is not scheduled yet; else None."""
        if len(self.loads) == 1 and not (self.waiting or self._unwanted or self.dropped):
            only = self.loads[0]
            if isinstance(only, PendingLoad):
                batch = only.load.only_missing()
                if batch is not None and not batch.asked:
                    return batch
        return None

    def _load_batches(self, loads: list[PendingLoad | ResolverTask]) -> list[ResolverTask]:
        """Load the batches of these loads, which were held back.

        If the request awaits nothing but loads, nothing can add a key to the batches, and the run
        loads them at once. Otherwise the loads are released, and the loaders load them in their own
        turn.

        Returns the tasks of the batches if each of them only yielded to the event loop in its first
        step: the caller runs their next step one turn later.
        """
        others = 0
        for column in self.waiting:
            others += column.left
        for load in loads:
            others -= not isinstance(load, PendingLoad)
        if self._unwanted or self.dropped or others:  # these may add keys
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
        batches = [PendingBatch(self, batch, of) for batch, of in wanted.items()]
        for load in loads:
            if not isinstance(load, PendingLoad) or load in others_ask:
                load.release()
            else:  # its batches continue it
                self.waiting.add(load)
        begun = []
        for waiting in batches:
            begun.append(waiting.first_step())
        if not begun:
            return []
        self.restore_task()
        for task in begun:
            if not task.only_yielded():
                break
        else:
            return begun
        for task in begun:
            if not task.done_:
                task.release()
        return []

    async def rest(self) -> None:
        self.objects_since_rest = 0
        if self.loop.time() - self._since > BUDGET:
            loads, self.loads = self.loads, []
            for each in loads:
                each.release()
            await _Turn(self)
            self._since = self.loop.time()

    async def _wait(self) -> None:
        if self._fatal is not None:
            return
        waiter = self._waiter = _Waiter(self)
        try:
            await waiter
        finally:
            # The event loop keeps the waiter until this turn ends; the run may be freed before.
            self._waiter = waiter.run = None

    def cancel_tasks(self) -> None:
        """Cancel all tasks that have not ended: the request was cancelled."""
        self.cancelled = True
        waiting = [task for column in self.waiting for task in column.tasks]
        for task in {*waiting, *self._unwanted} - self._cancelled_tasks:
            if not task.done_:
                self._cancelled_tasks.add(task)
                task.cancel()
        self._cancel_dropped()

    def _cancel_dropped(self) -> None:
        for task in self.dropped:
            if task not in self._cancelled_tasks:
                self._cancelled_tasks.add(task)
                task.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def end_unwanted(self) -> None:
        """Cancel the tasks whose values are not needed, and wait until they have ended: all values
        of the response have arrived."""
        self._cancelled_tasks |= self._unwanted
        for task in list(self._unwanted):
            task.stop()
        while self._unwanted:
            await self._wait()
        dropped = [task for task in self.dropped if not awaited_elsewhere(task)]
        self._cancelled_tasks.update(dropped)
        for future in dropped:
            future.cancel()
        if dropped:
            await self._ended(dropped)

    async def _ended(self, tasks: Sequence[Future[Any]]) -> None:
        """Wait until tasks have ended. A cancellation of the request reaches all others at once."""
        everything = asyncio.ensure_future(asyncio.wait(tasks))
        everything.add_done_callback(self._wake_later)
        try:
            while not everything.done():
                await self._wait()
        finally:
            everything.cancel()

    def _wake_later(self, _: Any) -> None:
        self._wake()

    async def _abandon(self) -> None:
        """Cancel all pending tasks and loads, and wait until they have ended."""
        for column in self.columns():
            if isinstance(column, PendingLoad):
                column.forget()
        forget(self.queue)
        for waiting in {*self.waiting, *self._arrivals}:
            drop(waiting.values)
        tasks = [task for waiting in self.waiting for task in waiting.tasks]
        self._discard([task for task in tasks if not task.done_])
        for task in self._unwanted - self._cancelled_tasks:
            task.cancel()
        self._cancel_dropped()
        while self._unwanted:
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            except CancelledError:
                for task in list(self._unwanted):
                    task.cancel()
            finally:
                self._waiter = None
        while running := [task for task in self.dropped if not task.done()]:
            try:
                await asyncio.wait(running)
            except CancelledError:
                for dropped in running:
                    dropped.cancel()

    def _discard(self, tasks: Sequence[ResolverTask]) -> None:
        """Stop waiting for tasks whose value has no position in the response."""
        for task in tasks:
            if not task.unwanted:
                task.unwanted = True
                self._unwanted.add(task)
                task.sink.count_down()

    def columns(self) -> list[Any]:
        return [*self.waiting, *(load for load in self.loads if isinstance(load, PendingLoad))]

    def null_propagated(self) -> None:
        for column in self.columns():
            column.null_propagated()

    def discard_unwanted(self, waiting: Iterable[Any]) -> None:
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
                if column in self.loads:
                    self.loads.remove(column)
        self._discard(unwanted)

    async def check_started(self) -> None:
        """Discard the tasks and loads that were started below positions that a null had replaced
        before. They are below a bulk field, whose values arrive together for all objects, or below
        an attempt that was given up."""
        started, self.unchecked = self.unchecked, []
        started += [load for load in self.loads if isinstance(load, PendingLoad)]
        for column in started:
            column.null_propagated()
            self.discard_unwanted([column])
            await self.rest()

    def has_values(self, waiting: Pending) -> None:
        self._arrivals.append(waiting)
        self._wake()

    def unwanted_ended(self, task: ResolverTask) -> None:
        self._unwanted.discard(task)
        if not self._unwanted:
            self._wake()

    def failed_with(self, error: BaseException) -> None:
        if self._fatal is None:
            self._fatal = error
        self._wake()


class _Waiter(Future[None]):
    """A future that a request awaits while its tasks run. Cancelling the request cancels its tasks
    at once, as with `asyncio.gather`. Otherwise a task whose awaited future is done would take its
    next step before the request itself learns of the cancellation."""

    def __init__(self, run: Waiting) -> None:
        Future.__init__(self, loop=run.loop)
        self.run: Waiting | None = run

    def cancel(self, msg: Any = None) -> bool:
        if self.run is not None:
            self.run.cancel_tasks()
        return Future.cancel(self, msg)


class _Turn(_Waiter):
    """An awaitable that lets the event loop take one turn, as `asyncio.sleep(0)` does. A
    cancellation of the request in this turn cancels its tasks at once: after `asyncio.sleep(0)`, a
    task whose awaited future is done would take its next step before."""

    def __init__(self, run: Waiting) -> None:
        _Waiter.__init__(self, run)
        self.set_result(None)

    def __await__(self) -> Generator[Any, None, None]:
        self._asyncio_future_blocking = True
        try:
            yield self
        finally:
            self.run = None

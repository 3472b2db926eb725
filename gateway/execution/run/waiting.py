"""Waits for what is awaited. Loads batches where nothing else can add a key, and cancels what has
no position in the response any more."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections.abc import Iterable
from typing import Any

from gateway.execution.model.state import Pending
from gateway.execution.run.large import forget
from gateway.execution.run.pending import PendingBatch, PendingLoad
from gateway.execution.run.starting import Starting
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.resolver_task import ResolverTask
from loaders.batches import Batch

BUDGET = 0.004
"""The seconds of work between rests, for responses of thousands of objects."""


class Waiting(Starting):
    """The part of a run that waits."""

    __slots__ = ("_arrivals", "_since", "_unwanted", "_waiter")

    def __init__(self) -> None:
        Starting.__init__(self)
        self._arrivals: list[Any] = []
        """The pending columns of which values have arrived."""
        self._unwanted = 0
        """The number of cancelled coroutines that have not ended yet."""
        self._waiter: asyncio.Future[None] | None = None
        self._since = 0.0
        """The time at which this turn of work began."""

    def release_only_task(self) -> None:
        """Have the event loop continue the only task that waits."""
        lone = self.only_task
        if lone is not None:
            self.only_task = None
            lone.release()

    async def _wait_for_more(self) -> None:
        """Wait until some awaited values have arrived."""
        lone, self.only_task = self.only_task, None
        loads, self.loads = self.loads, []
        if loads:
            tasks = self._load_batches(loads, lone is None)
            if tasks:
                try:
                    await asyncio.sleep(0)
                except BaseException:
                    for task in tasks:
                        task.release()
                    raise
                for task in tasks:
                    task.next_step()
                self.restore_task()
        if lone is not None:
            if not loads:
                await lone.carry(self._task)
                return
            lone.release()
        if self._arrivals:
            return
        if all(isinstance(column, PendingBatch) for column in self.waiting):
            # The callers stopped waiting for these batches: their own deadlines passed.
            self._discard([task for column in self.waiting for task in column.tasks])
        else:
            await self._wait()

    def _only_batch(self) -> Batch | None:
        """The batch that everything waits for, if there is only one and nobody asked for it."""
        if len(self.loads) == 1 and not (self.waiting or self.only_task or self._unwanted):
            only = self.loads[0]
            if isinstance(only, PendingLoad):
                batch = only.load.lacks()
                if batch is not None and not batch.asked:
                    return batch
        return None

    def _load_batches(
        self, loads: list[PendingLoad | ResolverTask], alone: bool
    ) -> list[ResolverTask]:
        """Ask the loaders, or load all batches at once: if loads are all that is awaited, nothing
        of this request can add a key. If all loading coroutines only yield to the event loop, they
        are returned: the caller continues them in the next turn."""
        others = 0
        for column in self.waiting:
            others += column.left
        for load in loads:
            others -= not isinstance(load, PendingLoad)
        if not alone or self._unwanted or others:
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
            else:  # its batches tell it
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
        """Give way to the event loop if this run held it for long."""
        self.objects_since_rest = 0
        if self.loop.time() - self._since > BUDGET:
            self.release_only_task()
            loads, self.loads = self.loads, []
            for each in loads:
                each.release()
            await asyncio.sleep(0)
            self._since = self.loop.time()

    async def _wait(self) -> None:
        if self._fatal is not None:
            return
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _abandon(self) -> None:
        """Cancel everything that is pending, and wait until it has ended."""
        self.release_only_task()
        for column in self.columns():
            if isinstance(column, PendingLoad):
                column.forget()
        forget(self.queue)
        for waiting in {*self.waiting, *self._arrivals}:
            drop(waiting.values)
        tasks = [task for waiting in self.waiting for task in waiting.tasks]
        self._discard([task for task in tasks if not task.done_])
        while self._unwanted:
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            except CancelledError:
                for task in tasks:
                    task.cancel()
            finally:
                self._waiter = None

    def _discard(self, tasks: list[ResolverTask]) -> None:
        """Cancel coroutines whose result has no position in the response any more."""
        for task in tasks:
            if not task.unwanted:
                task.unwanted = True
                self._unwanted += 1
                task.sink.one_less()
            task.cancel()

    def columns(self) -> list[Any]:
        """The pending columns, and the loads that the loaders were not told of."""
        return [*self.waiting, *(load for load in self.loads if isinstance(load, PendingLoad))]

    def null_propagated(self) -> None:
        """Tell all pending columns that some positions are gone."""
        for column in self.columns():
            column.null_propagated()

    def discard_unwanted(self, waiting: Iterable[Any]) -> None:
        """Cancel what has no position in the response any more."""
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

    def has_values(self, waiting: Pending) -> None:
        self._arrivals.append(waiting)
        self._wake()

    def unwanted_ended(self) -> None:
        self._unwanted -= 1
        if not self._unwanted:
            self._wake()

    def failed_with(self, error: BaseException) -> None:
        """End the request with a BaseException that is no Exception, as graphql-core does."""
        if self._fatal is None:
            self._fatal = error
        self._wake()

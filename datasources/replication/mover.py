"""Moves shards during operation: does the steps of a move on two servers, and skips what is done.

The effects are behind `Sides`. `tests/unit/datasources/moves` runs this module against a model of
two servers, and kills it at every seam.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence

from msgspec.structs import replace

from datasources.errors import ConfigError, StoreConflict, StoreCorrupt
from datasources.replication import moves
from datasources.replication.moves import Move, Standing, State
from datasources.replication.sides import Flow, Records, Report, Sides
from datasources.replication.steps import Progress, Tell

APPLY_SECONDS = 2.0
"""Seconds that a hand-over waits for the target. Then it is undone; gateways wait a little
longer."""
SETTLE_SECONDS = 1.0  # for the gateways' watches, after the topology named the move
LOOK = 0.005  # seconds between two checks of a hand-over
PAUSE = 0.5  # seconds until locked shards are tried again
COPIES = 3  # in one run; a channel that fails again and again needs an operator
TELL_SECONDS = 10.0  # seconds between two log lines about one wait
PATIENCE = 600.0  # seconds to wait for locked groups, or for a channel that is behind


class Mover:
    """One move, from its present state to MOVED or BACK. `sleep` waits seconds."""

    def __init__(
        self,
        move: Move,
        sides: Sides,
        records: Records,
        *,
        tell: Tell = lambda _: None,
        progress: Progress = lambda done, total: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.move = move
        self._sides, self._records = sides, records
        self._tell, self._progress = tell, progress
        self.verifies = True  # whether both sides are compared before the hand-over
        self._sleep = sleep
        self._copies = 0
        self._waited = 0.0

    async def run(self) -> Move:
        """Continue the move, or the move back, to its end. Raises StoreError."""
        while self.move.state not in moves.ARRIVED:
            await self._step()
        return self.move

    async def rollback(self) -> Move:
        """Reverse the move, and continue to BACK."""
        if moves.is_over(self.move):
            raise ConfigError(f"the move is {self.move.state}: there is nothing to roll back")
        if not self.move.back:
            stands = await self._standing()
            if stands.under_way:
                await self._settle(stands.under_way)
                stands = await self._standing()
            await self._turn(stands)
        return await self.run()

    async def close(self, *, drop: bool) -> Move:
        """End the move for good: it can't be moved back any more. `drop`: also delete the source's
        copies."""
        move = self.move
        if move.state is State.MOVED:
            await self._sides.leave(move.destination, move.origin)
            self._tell(f"{move.origin} does not follow {move.destination} any more")
        elif not moves.is_over(move):
            raise ConfigError(
                f"the move is {move.state}: finish it with `pinway shards move` or `rollback`"
            )
        if drop:
            loser = move.destination if move.state is State.BACK else move.origin
            await self._sides.drop(loser, move.shards)
            self._tell(f"the copies on {loser} are deleted")
        if move.state is State.MOVED:
            await self._save(State.CLOSED)
        return self.move

    async def verify(self, *, repair: bool) -> Report:
        """Compare the side that has the shards with the following side."""
        source, target = self.move.source, self.move.target
        if self.move.state in moves.ARRIVED:
            source, target = target, source
        await self._sides.follow(source, target)
        while (channel := await self._sides.channel(source, target)).flow is Flow.LATE:
            await self._wait(f"{target} is behind: {channel.told}")
        if channel.flow is Flow.LOST:
            raise StoreConflict(f"{target} does not follow {source}: {channel.told}")
        shards = await self._sides.owners(source, self.move.shards)
        owned = [shard for shard, owner in shards.items() if owner == source]
        return await self._sides.verify(source, target, owned, self._progress, repair=repair)

    async def _step(self) -> None:
        match self.move.state:
            case State.PLANNED:
                await self._save(State.COPYING)
            case State.COPYING:
                await self._copy()
            case State.FOLLOWING:
                await self._catch_up()
            case State.VERIFIED:
                await self._announce()
            case State.HANDING | State.ROLLING_BACK:
                await self._hand()
            case state:
                raise ConfigError(f"the move is {state}")

    async def _copy(self) -> None:
        move = self.move
        stands = await self._standing()
        if stands.under_way:  # left over from a hand-over that was being undone
            await self._settle(stands.under_way)
            return
        self._copies += 1
        if self._copies > COPIES:
            raise StoreConflict(
                f"{move.target} was copied {COPIES} times and did not follow: see its error log"
            )
        if stands.left:
            self._tell(f"copying {len(stands.left)} shards from {move.source} to {move.target}")
            await self._sides.leave(move.source, move.target)
            await self._sides.copy(move.source, move.target, stands.left, self._progress)
        await self._save(State.FOLLOWING)

    async def _catch_up(self) -> None:
        move = self.move
        stands = await self._standing()
        if stands.left:
            await self._sides.follow(move.source, move.target)
            if not await self._alive():
                return
            if self.verifies:
                await self._verify(stands.left)
        await self._save(State.VERIFIED)

    async def _verify(self, shards: Sequence[int]) -> None:
        move = self.move
        report = await self._sides.verify(
            move.source, move.target, shards, self._progress, repair=False
        )
        self._tell(f"{report.rows:,} rows were compared in {report.seconds:.1f} s")
        if report.differences:
            first = report.differences[0]
            raise StoreConflict(
                f"{len(report.differences):,} rows differ, as {first.table} {first.key} of shard "
                f"{first.shard} ({first.fault}): `pinway shards verify {move.range[0]}-"
                f"{move.range[1]}` lists them, and repairs them with --repair"
            )

    async def _announce(self) -> None:
        move = self.move
        stands = await self._standing()
        if stands.left and not await self._alive():
            return
        if not move.back:
            await self._lead_back(stands)
        topology = await self._records.topology()
        following, _ = moves.announced(move, topology)
        if following is not topology:
            await self._records.replace(following, expected_epoch=topology.epoch)
            self._tell(f"the topology of epoch {following.epoch} names both servers")
            await self._sleep(SETTLE_SECONDS)
        await self._save(move.handing)

    async def _lead_back(self, stands: Standing) -> None:
        """Make the source follow the target. Once the target has shards, a new channel would miss
        earlier writes there: a rollback then has to copy them."""
        move, sides = self.move, self._sides
        channel = await sides.channel(move.target, move.source)
        if channel.flow is Flow.LOST and stands.handed:
            self._tell(f"a rollback has to copy: {move.source} does not follow ({channel.told})")
            return
        if channel.flow is Flow.LOST:
            await sides.leave(move.target, move.source)
            await sides.connect(move.target, move.source, move.shards)
        await sides.follow(move.target, move.source)
        while (channel := await sides.channel(move.target, move.source)).flow is Flow.LATE:
            await self._wait(f"{move.source} is behind: {channel.told}")
        if channel.flow is Flow.LOST:
            raise StoreConflict(
                f"{move.source} does not follow {move.target}, so there would be no way back: "
                f"{channel.told}; nothing was handed over"
            )

    async def _hand(self) -> None:
        move, sides = self.move, self._sides
        stands = await self._standing()
        if stands.under_way:
            await self._settle(stands.under_way)
            return
        if not stands.left:
            await self._arrive()
            return
        topology = await self._records.topology()
        following, epoch = moves.announced(move, topology)
        if following is not topology:  # an operator removed the announcement
            await self._save(State.VERIFIED)
            return
        waiting = deque(moves.groups(stands.left, move.size))
        locked = 0
        while waiting:
            if not await self._alive():
                return
            group = waiting.popleft()
            if not await sides.hand(move.source, move.target, group, epoch):
                waiting.append(group)
                locked += 1
                self._tell(f"shards {_text(group)} are locked by a long transaction: later")
                if locked >= len(waiting):
                    locked = 0
                    await self._wait("writers hold the shards' fences")
                continue
            if not await self._taken(group):
                await self._undo(group)
                return
            self._tell(f"shards {_text(group)} are on {move.target}")
            await self._save(move.handing, groups=self.move.groups + 1)

    async def _arrive(self) -> None:
        move = self.move
        topology = await self._records.topology()
        following = moves.settled(move, topology)
        if following is not topology:
            await self._records.replace(following, expected_epoch=topology.epoch)
            self._tell(f"the topology has epoch {following.epoch}")
        await self._sides.leave(move.source, move.target)
        if move.back:
            await self._sides.leave(move.target, move.source)
        await self._save(move.arrived)

    async def _settle(self, under_way: Sequence[int]) -> None:
        """Finish a hand-over that is under way if the target has applied it; otherwise undo it."""
        move, sides = self.move, self._sides
        if (await sides.channel(move.source, move.target)).flow is not Flow.LOST:
            await sides.follow(move.source, move.target)
            if await self._taken(under_way):
                return
        await self._undo(under_way)

    async def _undo(self, under_way: Sequence[int]) -> None:
        """Give shards back to the source. The target must not apply the hand-over later, so its
        received events are deleted before the source opens the shards, and the remaining shards are
        copied again."""
        move, sides = self.move, self._sides
        self._tell(f"shards {_text(under_way)}: {move.target} does not take them; going back")
        await sides.stop(move.source, move.target)
        there = await sides.owners(move.target, under_way)
        closed = [shard for shard in under_way if there.get(shard) != move.target]
        await sides.leave(move.source, move.target)
        _, epoch = moves.announced(move, await self._records.topology())
        await sides.take_back(move.source, move.target, closed, epoch)
        await self._save(State.COPYING)

    async def _turn(self, stands: Standing) -> None:
        move, sides = self.move, self._sides
        if stands.handed:
            topology = await self._records.topology()
            self.move = moves.turned(self.move, topology)
            await self._records.save(self.move)
            return
        await sides.leave(move.source, move.target)
        await sides.leave(move.target, move.source)
        topology = await self._records.topology()
        if any(entry.range == move.range for entry in topology.moving):
            following = moves.settled(replace(move, back=True), topology)
            await self._records.replace(following, expected_epoch=topology.epoch)
        self.move = replace(move, back=True)
        await self._save(State.BACK)

    async def _alive(self) -> bool:
        """Wait until the target follows closely. Returns False if it can't, and has to be
        copied."""
        move = self.move
        while True:
            channel = await self._sides.channel(move.source, move.target)
            if channel.flow is Flow.ALIVE:
                self._waited = 0.0
                return True
            if channel.flow is Flow.LOST:
                self._tell(f"{move.target} does not follow {move.source}: {channel.told}")
                await self._save(State.COPYING)
                return False
            # a restarted server does not follow by itself
            await self._sides.follow(move.source, move.target)
            await self._wait(f"{move.target} is behind: {channel.told}")

    async def _taken(self, shards: Collection[int]) -> bool:
        """Whether the target has applied the hand-over of shards, and so has them, in time."""
        move, clock = self.move, asyncio.get_running_loop().time
        give_up = clock() + APPLY_SECONDS
        while True:
            owners = await self._sides.owners(move.target, shards)
            if all(owners.get(shard) == move.target for shard in shards):
                return True
            if clock() >= give_up:
                return False
            await self._sleep(LOOK)

    async def _wait(self, what: str) -> None:
        if self._waited >= PATIENCE:
            raise StoreConflict(f"{what}, after {PATIENCE:.0f} s; run the command again")
        if self._waited and self._waited % TELL_SECONDS == 0:
            self._tell(f"waiting for {self._waited:.0f} s: {what}")
        await self._sleep(PAUSE)
        self._waited += PAUSE

    async def _standing(self) -> Standing:
        move = self.move
        at_source = await self._sides.owners(move.source, move.shards)
        at_target = await self._sides.owners(move.target, move.shards)
        return moves.standing(move.shards, move.source, move.target, at_source, at_target)

    async def _save(self, state: State, **changes: int) -> None:
        is_new = state is not self.move.state
        self.move = replace(self.move, state=state, **changes)
        await self._records.save(self.move)
        if is_new:
            self._tell(f"{state}")


def _text(shards: Sequence[int]) -> str:
    if not shards:
        raise StoreCorrupt("a group without shards")
    return f"{shards[0]}-{shards[-1]}" if len(shards) > 1 else str(shards[0])

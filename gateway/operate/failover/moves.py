"""Live moves of shards: the choice of a recorded or a new move, and its mover."""

from datasources.errors import ConfigError
from datasources.replication import moves, topologies
from datasources.replication.accounts import Replica
from datasources.replication.mover import Mover
from datasources.replication.moves import Move
from datasources.replication.steps import Progress
from datasources.topology import Topology
from gateway.operate.failover.work import Work


class Records:
    """A move's record and the topology: `datasources.replication.sides.Records`. `version` is the
    record's version, None for a new move."""

    def __init__(self, work: Work, version: int | None) -> None:
        self._work, self._version = work, version

    async def save(self, move: Move) -> None:
        data = moves.encode(move)
        self._version = await self._work.operations.save(move.id, data, self._version)

    async def topology(self) -> Topology:
        return await self._work.source.load()

    async def replace(self, topology: Topology, *, expected_epoch: int) -> None:
        await self._work.source.save(topology, expected_epoch=expected_epoch)


async def move_to(work: Work, shards: str, host: str | None, group: int) -> tuple[Move, int | None]:
    """The recorded move of `shards` (like 64-127), which continues, or a new move to `host`, and
    its record's version. Raises ConfigError if both are impossible."""
    span = topologies.span_of(shards)
    known = await work.moves()
    move, version = known.get(moves.id_of(span), (None, None))
    if move is None or moves.is_over(move):
        moves.check_alone(span, [other for other, _ in known.values()])
        if host is None:
            raise ConfigError(f"shards {shards} are in no move: say where to with --to")
        move = moves.planned(work.topology, span, host, group)
    elif move.back:
        raise ConfigError(f"shards {shards} are going back: finish `pinway shards rollback`")
    elif host not in (None, moves.renamed(move, work.topology).destination):
        raise ConfigError(f"shards {shards} are on their way to {move.destination}")
    return move, version


async def recorded_move(work: Work, shards: str) -> tuple[Move, int]:
    """The recorded move of `shards`, and its record's version. Raises ConfigError without one."""
    span = topologies.span_of(shards)
    known = await work.moves()
    if (id := moves.id_of(span)) not in known:
        told = ", ".join(f"{m.range[0]}-{m.range[1]}" for m, _ in known.values()) or "none"
        raise ConfigError(f"shards {shards} are in no move; shards in moves are {told}")
    return known[id]


async def mover_of(
    work: Work, move: Move, version: int | None, *, replica: Replica, progress: Progress
) -> Mover:
    """The mover of a move whose record has this version. Raises StoreError for servers that can't
    do the move."""
    from datasources.mysql.replication.move_sides import MariaDbSides

    move = moves.renamed(move, work.topology)
    sides = MariaDbSides(move, work.admin, replica)
    await sides.check(move.origin, move.destination)
    return Mover(move, sides, Records(work, version), tell=work.tell, progress=progress)


def intended(work: Work, move: Move) -> list[str]:
    """The steps that are left of a move, a line each."""
    return moves.intended(moves.renamed(move, work.topology))

"""A promotion, which `pinway shards promote` and `pinway shards watch` do under the lock."""

from collections.abc import Callable

from datasources.replication import moves, topologies
from gateway.cli.working import Work


async def promoted(
    work: Work,
    host: str,
    old: str,
    tell: Callable[[str], None],
    *,
    accept_loss: bool = False,
    restored: bool = False,
) -> None:
    """Make `host` the master of all shards of `old`: its master or, if `host` was restored, a lost
    master. Raises StoreError, ConfigError."""
    from datasources.mysql.replication.promotion import Promotion

    slave = topologies.slave_of(work.topology, old)
    promotion = Promotion(
        work.topology,
        work.admin(host),
        work.admin(old),
        lambda: work.admin(host),
        tell=tell,
        accept_loss=accept_loss,
        restored=restored,
        slave=None if slave is None or slave == host else work.admin(slave),
    )
    await work.save(await promotion.run())
    await promotion.finish()
    for move, version in (await work.moves()).values():
        if (renamed := moves.succeeded(move, old, host)) != move:
            await work.operations.save(move.id, moves.encode(renamed), version)
    if old != host:
        advice = f"`pinway shards attach {old}` makes {old} its slave"
    else:
        advice = "`pinway shards attach` gives it a slave"
    tell(f"{host} has no slave, so its writes are on one server alone: {advice}")

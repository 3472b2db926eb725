"""A promotion, as `pinway shards promote` and `pinway shards watch` do it under the lock."""

from collections.abc import Callable

from datasources.replication import moves, topologies
from gateway.cli.working import Work


async def promoted(
    work: Work,
    host: str,
    tell: Callable[[str], None],
    *,
    accept_loss: bool = False,
    restored: bool = False,
) -> None:
    """Make slave `host` the master of all that its master has. Raises StoreError, ConfigError."""
    from datasources.mysql.replication.promotion import Promotion

    old = topologies.master_over(work.topology, host)
    promotion = Promotion(
        work.topology,
        work.admin(host),
        work.admin(old),
        lambda: work.admin(host),
        tell=tell,
        accept_loss=accept_loss,
        restored=restored,
    )
    await work.save(await promotion.run())
    await promotion.finish()
    for move, version in (await work.moves()).values():
        if (renamed := moves.succeeded(move, old, host)) != move:
            await work.operations.save(move.id, moves.encode(renamed), version)
    tell(
        f"{host} has no slave, so its writes are on one server alone: "
        f"`pinway shards attach {old}` makes {old} its slave"
    )

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
    over: str | None = None,
) -> None:
    """Make slave `host` the master of all that its master `over` has. Raises StoreError,
    ConfigError."""
    from datasources.mysql.replication.promotion import Promotion

    old = over or topologies.master_over(work.topology, host)
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
    other = old if old != host else "HOST"
    tell(
        f"{host} has no slave, so its writes are on one server alone: "
        f"`pinway shards attach {other}` makes {other} its slave"
    )

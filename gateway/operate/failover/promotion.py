"""A promotion, which `pinway shards promote` and observers do under the topology's lock."""

from datasources.replication import moves, topologies
from datasources.topology import Topology
from gateway.operate.failover.work import Work


def predecessor(topology: Topology, host: str, *, over: str | None, restored: bool) -> str:
    """The master whose shards `host` takes: the master of the slave `host`, or of a restored `host`
    the lost master `over`, or its own name. Raises ConfigError."""
    topologies.check_server(topology, host)
    if over is not None:
        old = over
    elif restored and host in topologies.masters(topology):
        old = host
    else:
        old = topologies.master_over(topology, host)
    topologies.check_master(topology, old)
    return old


async def promote(
    work: Work, host: str, old: str, *, accept_loss: bool = False, restored: bool = False
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
        tell=work.tell,
        empty_caches=work.empty_caches,
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
    work.tell(f"{host} has no slave, so its writes are on one server alone: {advice}")

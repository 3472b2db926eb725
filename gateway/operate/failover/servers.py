"""The shards' servers: their states and settings, new servers, new ranges of shards, and slaves."""

from datasources.errors import ConfigError, StoreError
from datasources.replication import moves, topologies
from datasources.replication.accounts import Replica
from datasources.replication.server_settings import faults_in
from datasources.replication.shard_picture import ServerState
from datasources.replication.topologies import Span
from datasources.together import together
from feed_engine.writes import comment_index
from gateway.operate.failover.work import Work, operators_connection


async def states(work: Work) -> list[ServerState]:
    """The states of all servers, by name."""
    from datasources.mysql.replication.states import state_of

    names = sorted(work.topology.servers)
    return list(await together(state_of(work.admin(name)) for name in names))


async def setting_faults(work: Work) -> list[str]:
    """The settings of masters and slaves on which acknowledged writes depend, and that are wrong: a
    line each."""
    from datasources.mysql.replication.states import variables_of

    async def ask(name: str) -> list[str]:
        try:
            variables = await variables_of(work.admin(name))
        except StoreError as error:
            return [str(error)]  # the error names the server
        return [f"{name}: {fault}" for fault in faults_in(work.topology, name, variables)]

    names = {*topologies.masters(work.topology), *topologies.slaves(work.topology)}
    found = await together(ask(name) for name in sorted(names))
    return [line for lines in found for line in lines]


async def add(work: Work, name: str, url: str) -> None:
    """Add a server without shards to the topology. Raises ConfigError if it does not answer."""
    from datasources.mysql.replication.admin import CONNECT_SECONDS

    following = topologies.added(work.topology, name, url)
    admin = operators_connection(work.settings, name, url)
    try:
        await admin.run("SELECT 1", within=CONNECT_SECONDS)
    except StoreError as error:
        raise ConfigError(f"{error}; nothing was changed: start it, or mend the URL") from None
    finally:
        await admin.close()
    await work.save(following)


async def remove(work: Work, name: str) -> None:
    """Remove a server without shards and moves from the topology. Raises ConfigError."""
    following = topologies.removed(work.topology, name)
    moves.check_unused(name, [move for move, _ in (await work.moves()).values()])
    await work.save(following)


async def open_range(
    work: Work, span: Span, host: str, slave: str | None, *, dry_run: bool
) -> str | None:
    """Open new shards on a master, and return the name of their slave: `slave`, or the slave of the
    master's present shards. `dry_run` only checks. Raises ConfigError, StoreError."""
    from datasources.mysql import MySqlShards

    slave = slave or topologies.slave_of(work.topology, host)
    following = topologies.opened(work.topology, span, host, slave)
    if dry_run:
        return slave
    store = MySqlShards(
        following,
        user=work.settings.mysql.operator_user,
        password=work.settings.mysql.operator_password,
        ca=work.settings.mysql.ca,
    )
    try:
        await store.open_shards(span)
        await comment_index.mark_new(store, range(span[0], span[1] + 1))
    finally:
        await store.close()
    await work.save(following)
    return slave


def master_for(work: Work, host: str, master: str | None) -> str:
    """The master whose slave `host` becomes: `master`, or the only one without a slave. Raises
    ConfigError."""
    topologies.check_server(work.topology, host)
    return master or topologies.lone_master(work.topology, host)


async def attach(work: Work, host: str, master: str, replica: Replica) -> None:
    """Make `host` the slave of a master without one. Raises ConfigError, StoreError."""
    from datasources.mysql.replication.attachment import Attachment

    attachment = Attachment(
        work.admin(master),
        work.admin(master),
        work.admin(host),
        replica,
        tell=work.tell,
    )
    following = topologies.with_slave(work.topology, master, host)
    await attachment.run()
    await work.save(following)


async def detach(work: Work, host: str) -> None:
    """Let the master of slave `host` continue alone. Raises ConfigError, StoreError."""
    from datasources.mysql.replication import attachment

    master = topologies.master_over(work.topology, host)
    following = topologies.with_slave(work.topology, master, None)
    await work.save(following)
    await attachment.detach(work.admin(master), following.epoch, work.tell)

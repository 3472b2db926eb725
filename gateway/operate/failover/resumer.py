"""Restarted servers go back to their work: once, or round after round beside an observer."""

from typing import TYPE_CHECKING

from datasources.errors import PinwayError, StoreError
from datasources.replication import topologies
from datasources.replication.steps import Tell
from datasources.together import together
from datasources.topology import Topology
from gateway.operate.failover.work import Admins, Work, means
from gateway.settings import Settings

if TYPE_CHECKING:
    from datasources.mysql.replication.resumption import Resumption


class Resumer:
    """Resumes restarted servers, round after round, for `pinway shards watch --resume`."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._settings, self._tell = settings, tell
        self._faults: dict[str, str] = {}

    async def round(self, topology: Topology, admin: Admins) -> None:
        """Ask all servers over connections that are kept, and take the lock when one waits. Tells a
        fault once. Raises StoreError while ZooKeeper does not answer, or another operation has the
        lock."""
        faults: dict[str, str] = {}
        if await _waiting(topology, admin):
            async with means(self._settings, "watch: resume", self._tell) as work:
                faults = await resume(work)
        for master, fault in faults.items():
            if self._faults.get(master) != fault:
                self._tell(f"{master} is not resumed: {fault}")
        self._faults = faults


async def resume(work: Work) -> dict[str, str]:
    """Open restarted masters and start restarted slaves, under the topology's lock. The faults that
    prevented it, by the pair's master."""
    faults = {}
    for master, resumption in _resumptions(work.topology, work.admin, work.tell).items():
        try:
            await resumption.run()
        except PinwayError as error:
            faults[master] = str(error)
    return faults


async def _waiting(topology: Topology, admin: Admins) -> bool:
    """Whether a server was restarted and waits. Pairs that can't be asked are left out."""

    async def waits(resumption: "Resumption") -> bool:
        try:
            return await resumption.needed()
        except StoreError:
            return False

    resumptions = _resumptions(topology, admin, lambda line: None)
    return any(await together(waits(resumption) for resumption in resumptions.values()))


def _resumptions(topology: Topology, admin: Admins, tell: Tell) -> dict[str, "Resumption"]:
    from datasources.mysql.replication.resumption import Resumption

    pairs = {name: topologies.slave_of(topology, name) for name in topologies.masters(topology)}
    return {
        master: Resumption(admin(master), None if slave is None else admin(slave), tell=tell)
        for master, slave in pairs.items()
    }

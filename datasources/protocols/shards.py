"""A whole sharded database, with the health of its servers."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from datasources.protocols.events import EventStore
from datasources.protocols.expiry import Expiry
from datasources.protocols.mappings import MappingStore
from datasources.protocols.mod import ModStore
from datasources.protocols.notifications import NotificationStore
from datasources.protocols.objects import ObjectStore
from datasources.protocols.outbox import Outbox
from datasources.protocols.reports import ReportStore
from datasources.protocols.visits import VisitStore
from datasources.topology import Topology


class ShardStore(Protocol):
    """A whole sharded database: the protocols above over one set of servers."""

    @property
    def objects(self) -> ObjectStore: ...

    @property
    def mappings(self) -> MappingStore: ...

    @property
    def outbox(self) -> Outbox: ...

    @property
    def visits(self) -> VisitStore: ...

    @property
    def events(self) -> EventStore: ...

    @property
    def notifications(self) -> NotificationStore: ...

    @property
    def reports(self) -> ReportStore: ...

    @property
    def expiry(self) -> Expiry: ...

    @property
    def mod(self) -> ModStore: ...

    def use(self, topology: Topology) -> None:
        """Switch to a later topology. An older or equal topology is ignored. Raises StoreCorrupt
        for a topology that must not follow the present topology, which then stays in use."""

    def reload_with(self, reload: Callable[[], Awaitable[None]]) -> None:
        """Set the function that reads the topology again, and passes it to `use`. It is called when
        a server refuses a call as StaleTopology; if the topology has changed, the call is repeated.
        """

    async def replication(self) -> dict[str, float | None]:
        """The seconds that each slave of the topology is behind its master; None for a slave that
        does not replicate. Slaves that can't be asked are left out."""

    async def setting_faults(self) -> dict[str, list[str] | None]:
        """The settings because of which acknowledged writes may be lost: for each server, lines of
        text. None for a server that can't be asked."""

    async def connection_limits(self) -> dict[str, int]:
        """The number of connections that each server allows, by server name. Servers that can't be
        asked are left out."""

    async def create(self, progress: Callable[[int, int], None] = ...) -> None:
        """Create the missing databases and tables of the topology. `progress` is called with (done,
        all)."""

    async def absent(self) -> dict[str, list[str]]:
        """The databases of the topology that are missing, by server. Servers that do not answer are
        left out."""

    async def ping(self) -> dict[str, str | None]:
        """Each server's fault in one line, or None if the server is well."""

    async def close(self) -> None: ...

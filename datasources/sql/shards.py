"""The stores of a sharded database over one SQL engine."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from datasources.sql.engine import Engine
from datasources.sql.events import SqlEvents
from datasources.sql.expiry import SqlExpiry
from datasources.sql.mappings import SqlMappings
from datasources.sql.mod import SqlMod
from datasources.sql.notifications import SqlNotifications
from datasources.sql.objects import SqlObjects
from datasources.sql.outbox import SqlOutbox
from datasources.sql.reports import SqlReports
from datasources.sql.router import Router
from datasources.sql.visits import SqlVisits
from datasources.topology import Topology, check_next

Progress = Callable[[int, int], None]
"""Called with (done, all) shards."""


class SqlShards(ABC):
    """The parts of `ShardStore` that all SQL backends share."""

    def __init__(self, engine: Engine, topology: Topology, clock: Callable[[], int]) -> None:
        self._router = Router(engine, topology, clock)
        self.objects = SqlObjects(self._router)
        self.mappings = SqlMappings(self._router)
        self.outbox = SqlOutbox(self._router)
        self.visits = SqlVisits(self._router)
        self.events = SqlEvents(self._router)
        self.notifications = SqlNotifications(self._router)
        self.reports = SqlReports(self._router)
        self.expiry = SqlExpiry(self._router)
        self.mod = SqlMod(self._router)

    def use(self, topology: Topology) -> None:
        """See ShardStore. Transactions that have begun end under their own topology."""
        current = self._router.topology
        if topology.epoch >= current.epoch and check_next(current, topology):
            self._router.use(topology)

    def reload_with(self, reload: Callable[[], Awaitable[None]]) -> None:
        self._router.reload = reload

    @abstractmethod
    async def create(self, progress: Progress = lambda done, total: None) -> None:
        """Create the missing databases and tables. `progress` is called during the work."""

    async def replication(self) -> dict[str, float | None]:
        """Empty for servers that have no slaves."""
        return {}

    async def setting_faults(self) -> dict[str, list[str] | None]:
        """Empty for servers without settings."""
        return {}

    async def connection_limits(self) -> dict[str, int]:
        """Empty for servers without a limit of connections."""
        return {}

    @abstractmethod
    async def absent(self) -> dict[str, list[str]]: ...

    @abstractmethod
    async def ping(self) -> dict[str, str | None]: ...

    @abstractmethod
    async def close(self) -> None: ...

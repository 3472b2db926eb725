"""`pinway` as a process that waits at a seam of a change of the memcached servers, for
`cache_commands.py`: `python -m tests.replication.stepped_command SEAM cache servers ...`.

A seam is before or after an effect of the change, or within it. At the seam, the process prints
REACHED, and waits for a line of its standard input.
"""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from datasources.mysql.replication import fences
from datasources.protocols import TopologySource
from datasources.topology import Topology
from datasources.zookeeper import ZooKeeperGenerations
from gateway.cli import main
from gateway.operate import cache_servers
from gateway.operate.cache_servers import Change, step_of

REACHED = "the seam is reached"
EFFECTS = ("begun", "fences", "turned", "leases", "ended")
SEAMS = [
    *(f"{when} {effect}" for effect in EFFECTS for when in ("before", "after")),
    "within fences",
    "within leases",
]
"""In the middle of the fences, one shard's fence is raised; in the middle of the wait for leases,
the earlier list is ended, and some leases may still last."""

Call = Callable[..., Awaitable[Any]]


class Seams:
    """The seams of this process, which waits at one of them once."""

    def __init__(self, wanted: str) -> None:
        assert wanted in SEAMS
        self._wanted: str | None = wanted

    def reach(self, name: str) -> None:
        if name == self._wanted:
            self._wanted = None
            print(REACHED, flush=True)
            sys.stdin.readline()

    def around(self, effect: str, call: Call) -> Call:
        async def run(*given: Any, **named: Any) -> Any:
            self.reach(f"before {effect}")
            result = await call(*given, **named)
            self.reach(f"after {effect}")
            return result

        return run

    def after(self, name: str, call: Call) -> Call:
        async def run(*given: Any, **named: Any) -> Any:
            result = await call(*given, **named)
            self.reach(name)
            return result

        return run


class Source:
    """A source of the topology with seams around each save."""

    def __init__(self, source: TopologySource, seams: Seams) -> None:
        self._source, self._seams = source, seams

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        save = self._seams.around(step_of(topology.caches) or "ended", self._source.save)
        await save(topology, expected_epoch=expected_epoch)


def with_seams(seams: Seams) -> None:
    """Put the seams into all changes of this process."""

    def change(**given: Any) -> Change:
        made = Change(**given)
        return replace(
            made,
            source=Source(made.source, seams),  # type: ignore[arg-type] # the rest by __getattr__
            raise_fences=seams.around("fences", made.raise_fences),
            end_lists=seams.around("leases", made.end_lists),
        )

    cache_servers.Change = change  # type: ignore[assignment,misc]
    fences._raise = seams.after("within fences", fences._raise)
    commit = ZooKeeperGenerations._commit
    ZooKeeperGenerations._commit = seams.after("within leases", commit)  # type: ignore[method-assign]


if __name__ == "__main__":
    with_seams(Seams(sys.argv[1]))
    sys.argv[1:] = sys.argv[2:]
    main()

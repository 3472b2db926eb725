"""All stores of a process."""

from typing import NamedTuple

from datasources.protocols.broadcasts import Broadcasts
from datasources.protocols.caches import MappingCache, ObjectCache
from datasources.protocols.generations import Generations
from datasources.protocols.pictures import PictureStore
from datasources.protocols.queue import JobQueue
from datasources.protocols.shards import ShardStore
from datasources.protocols.topology import FollowedTopology
from datasources.protocols.wide_columns import Sides


class Stores(NamedTuple):
    """The stores of Pinway, opened by `datasources.factory`."""

    shards: ShardStore
    object_cache: ObjectCache
    mapping_cache: MappingCache
    queue: JobQueue
    topology: FollowedTopology
    pools: Sides
    feeds: Sides
    broadcasts: Broadcasts
    pictures: PictureStore | None = None
    """The store of uploaded pictures; None if the settings say that nothing is uploaded."""
    generations: Generations | None = None
    """The generations of the caches' servers; None if only this host's gateway uses the caches, or
    if the settings say so."""
    writes_per_day: int = 0
    """The quota of a viewer's writes on one day (UTC); 0: without a bound."""

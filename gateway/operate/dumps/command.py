"""Opens what a dump needs, and writes it."""

from datasources.errors import ConfigError
from datasources.scans import ShardScans
from datasources.urls import mask
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.places import opened
from gateway.operate.imports.report import OnProgress
from gateway.settings import Settings
from gateway.site.shards_only import opened_shards, shards_config


async def dump(
    settings: Settings, to: str, on_progress: OnProgress, *, by: str, replace: bool
) -> Manifest:
    """Write a dump of all shards, or continue an interrupted dump. It needs the topology and the
    shards alone, and reads the embedded shards beside a gateway that has them open. Raises
    PinwayError."""
    config = shards_config(settings)
    async with opened_shards(config) as shards:
        if not isinstance(shards, ShardScans):
            raise ConfigError("these shards can't be dumped")
        async with opened(to, settings.stores.pictures) as place:
            manifest = await begin(place, to, by, source=mask(config.topology), replace=replace)
            await Dump(shards, place, manifest, on_progress).write()
            return manifest

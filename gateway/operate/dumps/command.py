"""Opens what a dump needs, and writes it."""

from dataclasses import replace as replaced

from datasources.errors import ConfigError
from datasources.scans import ShardScans
from datasources.urls import mask
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.earlier import check_apart, named, read_earlier
from gateway.operate.dumps.manifest import Manifest, Since
from gateway.operate.dumps.places import opened
from gateway.operate.dumps.sources import RowsOf, all_rows, changed_rows
from gateway.operate.imports.report import OnProgress
from gateway.settings import Settings
from gateway.site.shards_only import opened_shards, shards_config


async def dump(
    settings: Settings,
    to: str,
    on_progress: OnProgress,
    *,
    by: str,
    replace: bool,
    since: str | None = None,
) -> Manifest:
    """Write a dump of all shards, or of the changes since an earlier dump at the place `since`; or
    continue an interrupted dump. It needs the topology and the shards alone, and reads the embedded
    shards beside a gateway that has them open. Raises PinwayError."""
    config = shards_config(settings)
    # The gateways' account may not read the log, nor release locks while it reads.
    if since is not None or settings.mysql.operator_password:
        user, password = settings.mysql.operator_user, settings.mysql.operator_password
        config = replaced(config, mysql_user=user, mysql_password=password)
    pictures, source_url = settings.stores.pictures, mask(config.topology)
    async with opened_shards(config) as shards:
        if not isinstance(shards, ShardScans):
            raise ConfigError("these shards can't be dumped")
        rows_of: RowsOf = all_rows
        follows: Since | None = None
        if since is not None:
            check_apart(since, to)
            earlier = await read_earlier(since, source_url, by, pictures)
            rows_of, follows = changed_rows(shards, earlier, since), named(since, earlier)
        async with opened(to, pictures) as place:
            manifest = await begin(place, to, by, source=source_url, replace=replace, since=follows)
            await Dump(shards, place, manifest, on_progress, rows_of=rows_of).write()
            return manifest

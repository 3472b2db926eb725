"""`pinway backup` and `restore`: the embedded stores as of one moment."""

import asyncio
from pathlib import Path
from typing import Any

import click

from gateway.cli.options import with_settings
from gateway.cli.output import as_json, tell
from gateway.embedded import check_made
from gateway.operating import backup, control
from gateway.progress import Bars
from gateway.runtime import running
from gateway.settings import Settings


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
@as_json
@with_settings
def backup_command(settings: Settings, folder: Path, as_json: bool) -> None:
    """Copy all embedded stores, as of one moment, into the new FOLDER.

    A gateway may run on the stores: it makes the copy itself and goes on answering. Servers are
    backed up by their own tools.
    """
    backup.require_embedded(settings)
    check_made(settings)
    made = asyncio.run(_backup(settings, folder.absolute()))
    words = f"{made['files']:,} files, {made['bytes']:,} bytes in {made['folder']}"
    tell(made, words, as_json=as_json)


async def _backup(settings: Settings, folder: Path) -> dict[str, Any]:
    data = settings.data_dir.resolve()
    with Bars() as bars:
        answer = await control.ask(data, {"command": "backup", "folder": str(folder)}, bars)
        if answer is not None:
            return dict(answer)
        async with running(settings, jobs=False) as runtime:
            return told(await backup.make(runtime.stores, data, folder, bars))


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@as_json
@with_settings
def restore_command(settings: Settings, folder: Path, as_json: bool) -> None:
    """Make the embedded stores of the backup in FOLDER; the data directory must be empty."""
    backup.require_embedded(settings)
    with Bars() as bars:
        restored = told(backup.restore(folder, settings.data_dir, bars))
    words = (
        f"{settings.data_dir} is as it was at {restored['made']}: start the gateway with "
        "`pinway run` or `pinway serve`"
    )
    tell(restored, words, as_json=as_json)


def told(made: backup.Backup) -> dict[str, Any]:
    """A backup in plain values."""
    manifest = made.manifest
    return {
        "folder": str(made.folder),
        "made": manifest.made,
        "pinway": manifest.pinway,
        "files": len(manifest.files),
        "bytes": manifest.bytes,
    }

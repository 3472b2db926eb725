"""`pinway backup` and `restore`: the embedded stores as of one moment."""

import asyncio
from pathlib import Path

import click

from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result
from gateway.operate import backup
from gateway.operate.progress import Bars
from gateway.operate.requests import answer, told
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
@as_json
@with_settings
def backup_command(settings: Settings, folder: Path, as_json: bool) -> None:
    """Copy all embedded stores, as of one moment, into the new FOLDER.

    A gateway may run on the stores: then the gateway makes the copy, and continues to answer.
    Servers need their own backup tools.
    """
    backup.require_embedded(settings)
    check_made(settings)
    request = {"command": "backup", "folder": str(folder.absolute())}
    with Bars() as bars:
        made = asyncio.run(answer(settings, request, bars))
    words = f"{made['files']:,} files, {made['bytes']:,} bytes in {made['folder']}"
    print_result(made, words, as_json=as_json)


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
        f"`pinway run --data-dir {settings.data_dir}` (or `pinway serve`)"
    )
    print_result(restored, words, as_json=as_json)

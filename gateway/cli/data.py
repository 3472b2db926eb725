"""`pinway import` and `export`."""

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path

import click
from tqdm import tqdm

from datasources.errors import ConfigError
from gateway.cli.options import with_settings
from gateway.embedded import check_made
from gateway.importing.export import export_file
from gateway.importing.loader import import_file
from gateway.importing.report import Bad, ImportOptions, ImportReport
from gateway.installing import install
from gateway.progress import Bars
from gateway.runtime import running
from gateway.settings import Settings


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--as", "owner", help="Whose the bookmarks are; made if there is no such user.")
@click.option("--secret", is_flag=True, help="Keep the boards of bookmarks secret.")
@click.option("--strict", is_flag=True, help="Stop at the first bad line.")
@click.option(
    "--format", "format_", type=click.Choice(["auto", "bookmarks", "jsonl"]), default="auto"
)
@click.option("--no-feeds", is_flag=True, help="Build no feeds.")
@with_settings
def import_command(
    settings: Settings,
    file: Path,
    owner: str | None,
    secret: bool,
    strict: bool,
    format_: str,
    no_feeds: bool,
) -> None:
    """Bring in FILE: a browser's bookmarks export, or JSON Lines (docs/import.md).

    May be stopped and run again: nothing is doubled. Bad lines are told by number and left out.
    """
    if str(file) != "-" and not file.exists():
        raise ConfigError(f"can't import {file}: there is no such file")
    options = ImportOptions(
        format=format_,
        owner=owner,
        secret=secret,
        strict=strict,
        feeds=not no_feeds,
        spool_dir=str(settings.data_dir),
    )
    report = asyncio.run(_import(settings, file, options))
    loaded = ", ".join(f"{count} {kind}s" for kind, count in report.loaded.items() if count)
    click.echo(f"{loaded or 'nothing'} in the stores; {report.bad_lines} bad lines", err=True)


async def _import(settings: Settings, file: Path, options: ImportOptions) -> ImportReport:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with Bars() as bars:
        await install(settings, bars)
        async with running(settings, jobs=False) as runtime:
            try:
                return await import_file(
                    runtime.stores, file, options=options, progress=bars, on_bad=_tell
                )
            except OSError as error:
                raise ConfigError(f"can't read {file}: {error.strerror}") from None


def _tell(bad: Bad) -> None:
    tqdm.write(str(bad), file=sys.stderr)


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@with_settings
def export_command(settings: Settings, file: Path) -> None:
    """Write everything as JSON Lines to FILE, or to standard output."""
    count = asyncio.run(_export(settings, file))
    click.echo(f"{count} lines", err=True)


async def _export(settings: Settings, file: Path) -> int:
    check_made(settings)
    async with running(settings, jobs=False) as runtime:
        try:
            out = nullcontext(sys.stdout.buffer) if str(file) == "-" else file.open("wb")
        except OSError as error:
            raise ConfigError(f"can't write {file}: {error.strerror}") from None
        with out as lines, Bars() as bars:
            return await export_file(runtime.stores, lines, progress=bars)

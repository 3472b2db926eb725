"""`pinway import` and `export`."""

import asyncio
import errno
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import BinaryIO

import click
from tqdm import tqdm

from datasources import files
from datasources.errors import BadInput, ConfigError
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result
from gateway.operate.imports.export import export_file
from gateway.operate.imports.formats import Format
from gateway.operate.imports.import_source import Source, opened
from gateway.operate.imports.loader import Import, first_pass
from gateway.operate.imports.report import (
    Bad,
    ImportOptions,
    ImportReport,
    OnProgress,
    Progress,
    summary,
)
from gateway.operate.progress import Bars
from gateway.settings import Settings
from gateway.site.directory import make_directory
from gateway.site.embedded_stores import check_made
from gateway.site.runtime import running


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--as", "owner", help="The owner of the bookmarks; created if there is no such user.")
@click.option("--secret", is_flag=True, help="Keep the boards of bookmarks secret.")
@click.option("--strict", is_flag=True, help="Stop at the first bad line.")
@click.option(
    "--format", "format_", type=click.Choice(["auto", "bookmarks", "jsonl"]), default="auto"
)
@click.option("--source", default="", help="The file's origin, if other files have equal keys.")
@click.option("--no-feeds", is_flag=True, help="Build no feeds.")
@click.option(
    "--errors",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many bad lines to describe; further bad lines are only counted.",
)
@as_json
@with_settings
def import_command(
    settings: Settings,
    file: Path,
    owner: str | None,
    secret: bool,
    strict: bool,
    format_: str,
    source: str,
    no_feeds: bool,
    errors: int,
    as_json: bool,
) -> None:
    """Bring in FILE: bookmarks of a browser or a service, or JSON Lines (docs/import.md).

    The command may be stopped and run again: it imports nothing twice. It describes bad lines by
    number and skips them. The exit status is 1 when no line could be imported.
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
        source=source,
    )
    listener = _Listener(errors)
    try:
        with opened(file) as given:
            found = given.check_start(options)
            report = asyncio.run(_import(settings, given, options, listener))
    except OSError as error:
        raise ConfigError(f"can't read {file}: {error.strerror}") from None
    if listener.untold:
        click.echo(f"... and {listener.untold:,} more: --errors N describes N of them", err=True)
    if as_json:
        told = {
            "new": report.new,
            "loaded": report.loaded,
            "bad_lines": report.bad_lines,
            "changed_lines": report.changed_lines,
            "private_links": report.private_links,
            "trashed_links": report.trashed_links,
        }
        print_result(told, "", as_json=True)
    click.echo(summary(report), err=True)
    loaded = report.loaded
    if not (any(loaded.values()) if found is Format.JSON_LINES else loaded.get("pin")):
        raise BadInput(f"nothing in {file} could be imported")


class _Listener:
    """Writes the first bad lines to standard error, between the progress bars."""

    def __init__(self, most: int) -> None:
        self._left, self.untold = most, 0

    def __call__(self, bad: Bad) -> None:
        if self._left:
            self._left -= 1
            tqdm.write(str(bad), file=sys.stderr)
        else:
            self.untold += 1


async def _import(
    settings: Settings, source: Source, options: ImportOptions, listener: _Listener
) -> ImportReport:
    make_directory(settings.data_dir.resolve())
    with first_pass(source, options=options, on_bad=listener) as importing:
        # A pipe may be silent for longer than an opened store waits. A strict import makes no
        # stores for a file with a fault.
        if source.size is not None and not options.strict:
            return await _read_beside_opening(settings, importing)
        with Bars("the file") as bars:
            await importing.read(bars)
        with Bars() as bars:
            async with running(settings, jobs=False, create=bars) as runtime:
                limits = runtime.feeds.settings
                return await importing.write(runtime.stores, bars, runtime.walks, limits)


async def _read_beside_opening(settings: Settings, importing: Import) -> ImportReport:
    """Read the file while the stores are opened, and write it."""
    with Bars() as bars:
        held = _Held(bars)
        reading = asyncio.create_task(importing.read(held))
        try:
            async with running(settings, jobs=False, create=bars) as runtime:
                held.release()
                await reading
                limits = runtime.feeds.settings
                return await importing.write(runtime.stores, bars, runtime.walks, limits)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


class _Held:
    """Passes on the progress of reading once the stores are open. Until then, the bars say what the
    command waits for."""

    def __init__(self, progress: OnProgress) -> None:
        self._progress, self._last, self._open = progress, list[Progress](), False

    def __call__(self, progress: Progress) -> None:
        if self._open:
            self._progress(progress)
        else:
            self._last = [progress]

    def release(self) -> None:
        self._open = True
        for progress in self._last:
            self._progress(progress)


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@with_settings
def export_command(settings: Settings, file: Path) -> None:
    """Write everything as JSON Lines to FILE, or to standard output."""
    count = asyncio.run(_export(settings, file))
    click.echo(f"{count:,} lines", err=True)


async def _export(settings: Settings, file: Path) -> int:
    check_made(settings)
    async with running(settings, jobs=False) as runtime:
        try:
            with _opened(file) as lines, Bars() as bars:
                return await export_file(runtime.stores, lines, progress=bars)
        except BrokenPipeError:
            raise  # click ends the command without a word, as `head` expects
        except OSError as error:
            raise ConfigError(f"can't write {file}: {error.strerror}") from None


def _opened(file: Path) -> AbstractContextManager[BinaryIO]:
    """The place for an export's lines, which have what is on secret boards. A new file is for its
    owner alone. A file is replaced when the export is whole, and keeps its permissions; a device or
    a pipe gets the lines at once. Raises ConfigError for a link to a file."""
    if str(file) == "-":
        return nullcontext(sys.stdout.buffer)
    if file.exists() and not file.is_file():
        try:  # a pipe without a reader would block, and no signal would end it
            handle = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            raise ConfigError(f"nobody reads the pipe {file}: start its reader first") from None
        os.set_blocking(handle, True)
        if not S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "wb")
        os.close(handle)  # it was replaced since
    if file.is_symlink():
        raise ConfigError(f"{file} is a symbolic link: name the file itself, or - for the output")
    mode = S_IMODE(file.stat().st_mode) if file.exists() else files.PRIVATE
    if mode & ~files.PRIVATE & 0o077:
        click.echo(
            f"{file} keeps its permissions ({mode:03o}): others may read what is on secret boards. "
            f"`chmod 600 {file}` makes it private",
            err=True,
        )
    return files.replacing(file, mode=mode)

"""`pinway dump`: objects and mappings as Parquet, for analytics."""

import asyncio
import sys
import time
from importlib.util import find_spec
from typing import Any

import click

from datasources.errors import ConfigError
from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, print_result
from gateway.operate.dumps.command import dump
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.periods import PERIODS
from gateway.operate.progress import Bars
from gateway.settings import Settings


@click.command("dump")
@click.option(
    "--to", required=True, metavar="DIR|s3://BUCKET/PREFIX", help="Where the dump is written."
)
@click.option(
    "--by",
    type=click.Choice(PERIODS),
    default=PERIODS[0],
    show_default=True,
    help="The period of a partition. With longer periods there are fewer and larger files.",
)
@click.option(
    "--since",
    metavar="DIR|s3://BUCKET/PREFIX",
    help="An earlier dump: write only the rows that changed since.",
)
@click.option("--replace", is_flag=True, help="Remove the dump that is there, and begin again.")
@as_json
@with_settings
def dump_command(
    settings: Settings, to: str, by: str, since: str | None, replace: bool, as_json: bool
) -> None:
    """Write all objects and mappings as Parquet files, for analytics.

    With --since, write the rows that changed since an earlier dump, which the binary logs of the
    MariaDB servers tell. Pinway may run meanwhile. A dump that was interrupted goes on when the
    command is repeated. The exit status is 3 when objects could not be read.
    docs/how-to/analytics.md describes the files.
    """
    if find_spec("pyarrow") is None:
        raise ConfigError(
            "dump needs the package pyarrow, which is not installed: add it to this environment "
            "(pip install pyarrow), or install Pinway with its extra `dump`"
        )
    began = time.monotonic()
    with Bars() as bars:
        manifest = asyncio.run(dump(settings, to, bars, by=by, replace=replace, since=since))
    told = _told(manifest, to, time.monotonic() - began)
    print_result(told, _words(told), as_json=as_json)
    if manifest.faults:
        sys.exit(FOUND)


def _told(manifest: Manifest, to: str, seconds: float) -> dict[str, Any]:
    since = manifest.since
    return {
        "to": to,
        "tables": len(manifest.tables),
        "rows": manifest.rows,
        "files": len(manifest.files),
        "bytes": sum(file.bytes for file in manifest.files),
        "faults": manifest.faults,
        "moments": len(manifest.moments),
        "first": min(moment.taken for moment in manifest.moments),
        "last": max(moment.taken for moment in manifest.moments),
        "seconds": round(seconds, 1),
        "increment": manifest.number,
        "since": None if since is None else {"place": since.place, "schema": since.schema},
        "schema": manifest.schema,
    }


def _words(told: dict[str, Any]) -> list[str]:
    words = [
        f"{counted(told['rows'], 'row')} of {told['tables']} tables in "
        f"{counted(told['files'], 'file')}, {told['bytes']:,} bytes, in {told['to']}",
        f"read as of {counted(told['moments'], 'moment')}, from {told['first']} to {told['last']}",
    ]
    if since := told["since"]:
        words.append(f"increment {told['increment']}, since the dump in {since['place']}")
        if since["schema"] != told["schema"]:
            words.append(
                f"the columns grew since then, from schema {since['schema']} to {told['schema']}: "
                "rows that did not change lack the new columns until a full dump is made"
            )
    if told["faults"]:
        words.append(
            f"the JSON of {counted(told['faults'], 'object')} can't be read: the column `fault` "
            "says why"
        )
    return words

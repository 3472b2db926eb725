"""`pinway search`: the index in which pins, boards and users are searched."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Any

import click

from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, print_result
from gateway.operate.progress import Bars
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made


@click.group("search")
def search() -> None:
    """The index in which pins, boards and users are searched."""


@search.command("rebuild")
@as_json
@with_settings
def rebuild_command(settings: Settings, as_json: bool) -> None:
    """Build this host's search index again, from all users, boards and pins.

    Searches use the old index until the new one is complete. A process that runs jobs builds the
    index by itself when it is absent or damaged. A rebuild that was killed may be repeated.
    """
    print_result(*_asked(settings, "search rebuild"), as_json=as_json)


@search.command("status")
@as_json
@with_settings
def status_command(settings: Settings, as_json: bool) -> None:
    """Show this host's search index, after a check of all its files.

    The exit status is 3 when there is no index that can be used.
    """
    found, told = _asked(settings, "search status")
    print_result(found, told, as_json=as_json)
    if found["state"] != "ok":
        sys.exit(FOUND)


def _asked(settings: Settings, command: str) -> tuple[dict[str, Any], list[str]]:
    check_made(settings)
    with Bars() as bars:
        found = dict(asyncio.run(answer(settings, {"command": command}, bars)))
    return found, _words(found)


def _words(found: dict[str, Any]) -> list[str]:
    told = [f"the search index: {found['state']}"]
    if found["fault"]:
        told.append(found["fault"])
    if found["state"] == "ok":
        told.append(
            f"{found['documents']:,} documents, {found['bytes']:,} bytes, built "
            f"{_time(found['built'])}, with the changes until {_time(found['read_to'])}"
        )
    else:
        told.append("until it is built, searches are answered with an error")
    return told


def _time(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(sep=" ", timespec="seconds")

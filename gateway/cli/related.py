"""`pinway related`: the graph from which related pins are found."""

import asyncio
import sys

import click

from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, print_result
from gateway.operate.progress import Bars
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made
from gateway.site.graph import graph_status

_CONSEQUENCE = "until it is built, likes bring the newest pins beside the liked pin"


@click.group("related")
def related() -> None:
    """The graph of pins and boards, from which related pins are found."""


@related.command("build")
@as_json
@with_settings
def build_command(settings: Settings, as_json: bool) -> None:
    """Build the graph of this host now, from all boards and pins.

    A process that runs jobs builds it by itself when it is absent, damaged or older than
    related_hours. All processes of this host use the new graph within a second.
    """
    check_made(settings)
    with Bars() as bars:
        asyncio.run(answer(settings, {"command": "related build"}, bars))
    found = graph_status(settings)
    print_result(found, _words(found), as_json=as_json)


@related.command("status")
@as_json
@with_settings
def status_command(settings: Settings, as_json: bool) -> None:
    """Show this host's graph, after a check of its whole file.

    The exit status is 3 when there is no graph that can be used.
    """
    found = graph_status(settings)
    print_result(found, _words(found), as_json=as_json)
    if found["state"] != "ok":
        sys.exit(FOUND)


def _words(found: dict[str, object]) -> list[str]:
    told = [f"{found['file']}: {found['state']}"]
    if found["fault"]:
        told.append(str(found["fault"]))
    if "edges" in found:
        told.append(
            f"{found['pins']:,} public pins, {found['roots']:,} roots on {found['boards']:,} "
            f"boards, {found['edges']:,} edges; {found['bytes']:,} bytes, built "
            f"{found['hours']:,} hours ago"
        )
    if found["state"] != "ok":
        told.append(_CONSEQUENCE)
    return told

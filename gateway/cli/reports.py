"""`pinway reports`: shows what people reported, and decides about it."""

import getpass
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from gateway.cli.asking import asked
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, counted, print_result, table
from gateway.operate.reports import KINDS, ORDERS, STATUSES
from gateway.settings import Settings

_COLUMNS = ("id", "kind", "reports", "reasons", "newest", "owner", "name")
_WIDTH = 40  # characters of a name in a list

_by: Callable[[Any], Any] = click.option(
    "--by", metavar="NAME", help="Who decides; without it, the name of this system's user."
)


@click.group("reports")
def reports() -> None:
    """The reports of pins, boards, users and comments, and the decisions about them."""


@reports.command("list")
@click.option("--status", type=click.Choice(STATUSES), default="open", show_default=True)
@click.option("--kind", type=click.Choice(KINDS), help="Only reports of these.")
@click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    default="newest",
    show_default=True,
    help="The newest reports first, or most reports first.",
)
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True)
@click.option("--after", metavar="PLACE", help="Continue a list that ended at this place.")
@as_json
@with_settings
def list_command(settings: Settings, as_json: bool, **wanted: Any) -> None:
    """List what was reported, over all shards."""
    found = asked(settings, {"command": "reports list", **wanted})
    rows = [_row(case) for case in found["cases"]]
    words = [
        *(table(rows, _COLUMNS) if rows else [f"nothing is {wanted['status']}"]),
        *([f"further: --after {found['next']}"] if found["next"] else []),
        *(f"not asked: {server}: {why}" for server, why in found["unreachable"].items()),
    ]
    print_result(found, words, as_json=as_json)


@reports.command("show")
@click.argument("id")
@as_json
@with_settings
def show_command(settings: Settings, id: str, as_json: bool) -> None:
    """Show one reported object, its newest 100 reports, and the decisions."""
    found = asked(settings, {"command": "reports show", "id": id})
    print_result(found, _shown(found), as_json=as_json)


@reports.command("dismiss")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@_by
@as_json
@with_settings
def dismiss_command(
    settings: Settings, ids: tuple[str, ...], by: str | None, as_json: bool
) -> None:
    """Close reports, and leave what was reported as it is.

    A report by a further user opens them again.
    """
    _decide(settings, "dismiss", ids, by, as_json=as_json)


@reports.command("remove")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@_by
@click.option("--yes", is_flag=True, help="Remove without a question.")
@as_json
@with_settings
def remove_command(
    settings: Settings, ids: tuple[str, ...], by: str | None, yes: bool, as_json: bool
) -> None:
    """Delete reported pins, boards and comments as their owners would, and reported users'
    accounts.

    A removal can't be taken back.
    """
    if not yes:
        for id in ids:
            found = asked(settings, {"command": "reports show", "id": id})
            click.echo(f"{_named(found)}{_along(found)}", err=True)
        click.confirm("Remove for good?", abort=True, err=True)
    _decide(settings, "remove", ids, by, as_json=as_json)


def _decide(
    settings: Settings, change: str, ids: tuple[str, ...], by: str | None, *, as_json: bool
) -> None:
    request = {
        "command": f"reports {change}",
        "ids": list(ids),
        "operator": _user() if by is None else by,
    }
    done = asked(settings, request)
    verb = "removed" if change == "remove" else "dismissed"
    words = f"{len(done['changed']):,} {verb}"
    if done["unchanged"]:
        words += f", {len(done['unchanged']):,} {verb} before"
    print_result(done, words, as_json=as_json)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        raise click.UsageError("this system's user has no name: give --by NAME") from None


def _row(case: Mapping[str, Any]) -> dict[str, Any]:
    reasons = sorted(case["reasons"].items(), key=lambda one: -one[1])
    return {
        **case,
        "reasons": ", ".join(f"{count:,} {reason}" for reason, count in reasons),
        "name": _short(case["name"]) + (" (deleted)" if case["deleted"] else ""),
    }


def _line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def _short(text: str) -> str:
    line = _line(text)
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _named(case: Mapping[str, Any]) -> str:
    deleted = " (deleted already)" if case["deleted"] else ""
    if case["kind"] == "user":
        return f"the account of {case['owner'] or case['id']}{deleted}"
    return f"{case['kind']} {case['id']} {_short(case['name'])!r} of {case['owner']}{deleted}"


def _along(case: Mapping[str, Any]) -> str:
    """The objects that are removed together with an object."""
    along = {"user": ", with all its boards, pins and comments", "board": ", with all its pins"}
    return "" if case["deleted"] else along.get(case["kind"], "")


def _shown(case: Mapping[str, Any]) -> Iterator[str]:
    yield f"{_named(case)}: {case['status']}"
    yield from (f"  {name}: {_line(value)}" for name, value in case["subject"].items() if value)
    yield f"{counted(case['reports'], 'report')}, the newest at {case['newest']}"
    for it in case["filed"]:
        told = f": {_line(it['text'])}" if it["text"] else ""
        yield f"  {it['at']} {it['reason']} by {it['reporter'] or it['reporter_id']}{told}"
    for it in case["decisions"]:
        yield f"{it['decision']} at {it['at']} by {it['operator']}"

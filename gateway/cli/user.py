"""`pinway user`: finds users, writes their data, and indexes their comments, for operators."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from gateway.cli.asking import asked
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, counted, print_result
from gateway.operate.progress import Bars
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made

_KEYS = ("email", "username", "subject", "id")


@click.group("user")
def user() -> None:
    """The users, for operators."""


_Command = Callable[..., None]


def _of_a_user(command: _Command) -> _Command:
    """Add the options that name one user."""
    for option in reversed(
        (
            click.option("--email", metavar="ADDRESS", help="The user with this e-mail address."),
            click.option("--username", metavar="NAME", help="The user with this user name."),
            click.option("--subject", metavar="SUB", help="The user who signs in by this subject."),
            click.option("--id", metavar="ID", help="The user with this id."),
            click.option(
                "--issuer", metavar="ISS", help="The subject's issuer, if it is not auth.issuer."
            ),
        )
    ):
        command = option(command)
    return command


def _check(wanted: Mapping[str, str | None]) -> None:
    if sum(wanted[name] is not None for name in _KEYS) != 1:
        raise click.UsageError("give exactly one of --email, --username, --subject and --id")
    if wanted["issuer"] is not None and wanted["subject"] is None:
        raise click.UsageError("--issuer goes with --subject")


@user.command("find")
@_of_a_user
@as_json
@with_settings
def find_command(settings: Settings, as_json: bool, **wanted: str | None) -> None:
    """Find one user by exactly one of the options, also by an earlier name, address or subject
    that is still kept for the user.

    The answer has private data: the e-mail address and the subject.
    """
    _check(wanted)
    found = asked(settings, {"command": "user find", **wanted})
    print_result(found, _words(found), as_json=as_json)


@user.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@_of_a_user
@as_json
@with_settings
def export_command(settings: Settings, file: Path, as_json: bool, **wanted: str | None) -> None:
    """Write all that is kept about one user to a new FILE, as JSON Lines.

    The user is named as in `pinway user find`. The file has private data, and its owner alone may
    read it. On embedded stores, the gateway that runs writes it.
    """
    _check(wanted)
    check_made(settings)
    request = {"command": "user export", "file": str(file.absolute()), **wanted}
    with Bars() as bars:
        found = dict(asyncio.run(answer(settings, request, bars)))
    words = f"{found['lines']:,} lines about user {found['id']} in {found['file']}"
    print_result(found, words, as_json=as_json)


@user.command("index-comments")
@as_json
@with_settings
def index_command(settings: Settings, as_json: bool) -> None:
    """Complete the index of comments by their authors, once after an upgrade from a version
    without it. New shards are indexed.

    Upgrade all gateways and workers first. Reads and writes go on. Repeat a command that was
    stopped: it skips the comments that are indexed. Until the index is complete, exports of a
    user's data and deletions of accounts read all comments of the shards that are not indexed.
    """
    check_made(settings)
    with Bars() as bars:
        found = dict(asyncio.run(answer(settings, {"command": "user index-comments"}, bars)))
    words = f"{found['comments']:,} comments of {counted(found['shards'], 'shard')} indexed"
    print_result(found, words, as_json=as_json)


def _words(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"user {found['id']}: {found['state']}"
    for name in ("username", "full_name", "email", "issuer", "subject", "created", "deleted"):
        if found[name]:
            yield f"  {name.replace('_', ' ')}: {found[name]}"
    for kept in found["kept"]:
        yield f"  kept {kept['kind']} until {kept['until']}: {kept['key']}"

"""`pinway user`: finds users for operators."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from gateway.cli.asking import asked
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result
from gateway.settings import Settings

_KEYS = ("email", "username", "subject", "id")


@click.group("user")
def user() -> None:
    """The users, for operators."""


@user.command("find")
@click.option("--email", metavar="ADDRESS", help="The user with this e-mail address.")
@click.option("--username", metavar="NAME", help="The user with this user name.")
@click.option("--subject", metavar="SUB", help="The user who signs in by this subject.")
@click.option("--id", metavar="ID", help="The user with this id.")
@click.option("--issuer", metavar="ISS", help="The subject's issuer, if it is not auth.issuer.")
@as_json
@with_settings
def find_command(settings: Settings, as_json: bool, **wanted: str | None) -> None:
    """Find one user by exactly one of the options, also by an earlier name, address or subject
    that is still kept for the user.

    The answer has private data: the e-mail address and the subject.
    """
    if sum(wanted[name] is not None for name in _KEYS) != 1:
        raise click.UsageError("give exactly one of --email, --username, --subject and --id")
    if wanted["issuer"] is not None and wanted["subject"] is None:
        raise click.UsageError("--issuer goes with --subject")
    found = asked(settings, {"command": "user find", **wanted})
    print_result(found, _words(found), as_json=as_json)


def _words(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"user {found['id']}: {found['state']}"
    for name in ("username", "full_name", "email", "issuer", "subject", "created", "deleted"):
        if found[name]:
            yield f"  {name.replace('_', ' ')}: {found[name]}"
    for kept in found["kept"]:
        yield f"  kept {kept['kind']} until {kept['until']}: {kept['key']}"

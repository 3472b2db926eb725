"""`pinway stack up | down | status | logs`."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from deploy.stack.errors import StackError, StartFailed
from deploy.stack.service import State
from deploy.stack.stack import Stack

_DEFAULT_DIR = Path(".pinway") / "stack"
_FOLLOW_POLL = 0.3
FOUND = 3
"""The exit status of a command that looked for faults and found some."""

_dir_option: Callable[[Any], Any] = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=_DEFAULT_DIR,
    show_default=True,
    help="Where the servers keep their data, logs and configuration.",
)


class _Group(click.Group):
    """Prints a StackError as one line; if a server failed, after the last lines of its log."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except StartFailed as failure:
            if failure.tail:
                click.echo(f"--- the end of {failure.log}", err=True)
                click.echo(failure.tail, err=True)
                click.echo("---", err=True)
            raise click.ClickException(str(failure)) from failure
        except StackError as problem:
            raise click.ClickException(str(problem)) from problem
        except OSError as problem:
            if problem.filename is None:
                raise
            text = f"cannot use {problem.filename}: {problem.strerror}; choose another --dir."
            raise click.ClickException(text) from problem


@click.group(cls=_Group)
def stack() -> None:
    """Real servers on this host: MariaDB, Redis, memcached, ZooKeeper, HBase, OpenSearch."""


@stack.command()
@_dir_option
@click.option("--shards", type=click.IntRange(1, 65_536), default=64, show_default=True)
@click.option("--mod-shards", type=click.IntRange(1, 65_536), default=16, show_default=True)
@click.option(
    "--servers",
    type=click.IntRange(1, 64),
    help="MariaDB masters, each with a slave: 2 at first; more of them may be added later.",
)
@click.option("--set-up-only", is_flag=True, help="Install and write settings; start nothing.")
def up(
    directory: Path, shards: int, mod_shards: int, servers: int | None, set_up_only: bool
) -> None:
    """Start the servers that are not running, and wait until all are ready."""
    began = time.monotonic()
    whole = Stack(directory, shards, mod_shards, servers)
    whole.up(click.echo, set_up_only=set_up_only)
    if not set_up_only:
        click.echo(f"all servers ready after {time.monotonic() - began:.0f} s")
    click.echo(f"next: pinway init --config {whole.settings_file}")
    click.echo(f"then: pinway serve --config {whole.settings_file}")


@stack.command()
@_dir_option
def down(directory: Path) -> None:
    """Stop all servers; the data stays."""
    servers = Stack.open(directory)
    servers.down(click.echo)
    click.echo(f"all servers are down; their data stays in {servers.dir}")


@stack.command()
@_dir_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status(directory: Path, as_json: bool) -> None:
    """Show each server's port, process and health; exit with 3 unless all are up."""
    rows = Stack.open(directory).status()
    if as_json:
        told = [
            {
                "server": row.name,
                "port": row.port,
                "pid": row.pid,
                "state": str(row.health.state),
                "detail": row.health.detail,
            }
            for row in rows
        ]
        click.echo(json.dumps(told, indent=2))
        sys.exit(0 if all(row.health.state is State.UP for row in rows) else FOUND)
    click.echo(f"{'SERVER':<22}{'PORT':>6}{'PID':>9}  {'STATE':<8}DETAIL")
    for row in rows:
        pid = "-" if row.pid is None else str(row.pid)
        line = f"{row.name:<22}{row.port:>6}{pid:>9}  {row.health.state:<8}{row.health.detail}"
        click.echo(line.rstrip())
    if any(row.health.state is not State.UP for row in rows):
        sys.exit(FOUND)


@stack.command()
@_dir_option
@click.argument("service", required=False)
@click.option("-f", "--follow", is_flag=True, help="Continue with new lines as they are written.")
@click.option("-n", "--lines", type=click.IntRange(0), default=20, show_default=True)
def logs(directory: Path, service: str | None, follow: bool, lines: int) -> None:
    """Show the end of one server's log, or of all."""
    services = Stack.open(directory).services
    if service is not None and service not in services:
        raise StackError(f"no server {service!r}; there are {', '.join(services)}.")
    chosen = [services[service]] if service is not None else list(services.values())
    width = 0 if service is not None else max(len(s.name) for s in chosen) + 1
    ends = {s.name: s.log.stat().st_size if s.log.exists() else 0 for s in chosen}
    for one in chosen:
        for line in one.log_tail(lines).splitlines():
            click.echo(f"{one.name:<{width}}{line}" if width else line)
    if follow:
        while True:
            for one in chosen:
                for line in _new_lines(one.log, ends, one.name):
                    click.echo(f"{one.name:<{width}}{line}" if width else line)
            time.sleep(_FOLLOW_POLL)


def _new_lines(log: Path, ends: dict[str, int], name: str) -> Iterator[str]:
    """The complete lines written since `ends[name]`, which is updated. A shorter file counts as
    new."""
    if not log.exists():
        return
    with log.open("rb") as file:
        if file.seek(0, 2) < ends[name]:
            ends[name] = 0
        file.seek(ends[name])
        for line in file:
            if line.endswith(b"\n"):
                ends[name] += len(line)
                yield line.decode(errors="replace").rstrip("\n")

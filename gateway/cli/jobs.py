"""`pinway jobs`: shows the background work after writes, and retries or drops work that fails."""

import click

from gateway.cli.asking import asked
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result, table
from gateway.settings import Settings

_COLUMNS = ("id", "state", "task", "priority", "written", "attempts", "reason")


@click.group("jobs")
def jobs() -> None:
    """The background jobs that wait or failed, and why."""


@jobs.command("list")
@click.option("--parked", is_flag=True, help="Only jobs that failed: parked, or set aside.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@as_json
@with_settings
def list_command(settings: Settings, parked: bool, limit: int, as_json: bool) -> None:
    """List jobs, the oldest of each shard first.

    A job that this version can't do is parked, and tried again later. After eight attempts it is
    set aside: nothing waits for it, and nothing tries it again until `retry`.
    """
    found = asked(settings, {"command": "jobs list", "parked": parked, "limit": limit})
    rows = [job | {"task": ", ".join(job["tasks"])} for job in found["jobs"]]
    fault = found.get("queue_fault")
    lanes = ", ".join(f"{lane['jobs']:,} {lane['priority']}" for lane in found["queue"])
    words = [
        *(table(rows, _COLUMNS) if rows else []),
        f"{found['rows']:,} jobs in the outboxes, {found['parked']:,} of them parked or set aside; "
        f"in the queue: {lanes or 'unknown'}",
        *([f"not asked: {fault}"] if fault else []),
        *(f"not asked: {server}: {why}" for server, why in found["unreachable"].items()),
    ]
    print_result(found, words, as_json=as_json)


@jobs.command("show")
@click.argument("id")
@as_json
@with_settings
def show_command(settings: Settings, id: str, as_json: bool) -> None:
    """Show one job with its payload and progress."""
    found = asked(settings, {"command": "jobs show", "id": id})
    print_result(found, [f"{name}: {value}" for name, value in found.items()], as_json=as_json)


@jobs.command("retry")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All jobs that are parked or set aside.")
@as_json
@with_settings
def retry_command(settings: Settings, ids: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Make parked jobs due now, as if they had never failed."""
    _change(settings, "retry", ids, every, as_json=as_json)


@jobs.command("drop")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All jobs that are parked or set aside.")
@as_json
@with_settings
def drop_command(settings: Settings, ids: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Remove jobs that will never succeed, without doing their work."""
    _change(settings, "drop", ids, every, as_json=as_json)


def _change(
    settings: Settings, change: str, ids: tuple[str, ...], every: bool, *, as_json: bool
) -> None:
    if bool(ids) == every:
        raise click.UsageError("name jobs, or give --all")
    if every:
        request = {"command": "jobs list", "parked": True, "limit": 100_000}
        ids = tuple(job["id"] for job in asked(settings, request)["jobs"])
    done = asked(settings, {"command": f"jobs {change}", "ids": list(ids)})
    verb = "due again" if change == "retry" else "dropped"
    count = len(done["changed"])
    print_result(done, f"{count:,} {'job' if count == 1 else 'jobs'} {verb}", as_json=as_json)

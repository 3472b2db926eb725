"""`pinway migrate back`: the way back of a migration."""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, print_result
from gateway.operate.migration.back.bringing import Difference
from gateway.operate.migration.back.command import Ended, check_not_ended, end, opened_back
from gateway.operate.migration.back.rounds import BackRound
from gateway.operate.migration.mapping import Mapping, read_mapping
from gateway.settings import Settings

_SAY = 1.0  # seconds between two lines about the lag
_PAUSE = 1.0  # seconds between two rounds
_STAYS = (
    "sections, blocks and mutes, and boards' collaborators and invitations, stay in Pinway: no "
    "table of the old database can have them; a pin that a collaborator added becomes its board's "
    "owner's; users of other migrations and of imports stay in Pinway, with their boards and pins"
)


@click.command("back")
@click.argument("mapping", type=click.Path(path_type=Path))
@click.option("--until-caught-up", is_flag=True, help="End the command when all changes arrived.")
@click.option("--compare", is_flag=True, help="Compare both sides, and change nothing.")
@click.option("--end", "ends", is_flag=True, help="End the way back: the source takes the writes.")
@click.option("--leave-out", is_flag=True, help="With --end: end with differences, too.")
@click.option(
    "--then", default="", help="With --end: a command that lets writes come to the source."
)
@as_json
@with_settings
def back_command(
    settings: Settings,
    mapping: Path,
    until_caught_up: bool,
    compare: bool,
    ends: bool,
    leave_out: bool,
    then: str,
    as_json: bool,
) -> None:
    """Bring what changes in Pinway after the cut-over back to MAPPING's source, as it happens.

    The source stays read-only for everybody else, and Pinway takes the writes, until --end. The
    command may be killed and run again. It says how far it is behind, and goes on until Ctrl-C or
    SIGTERM. What the source can't get is in a report. The exit status is 3 if --compare or --end
    finds a difference.
    """
    if (leave_out or then) and not ends:
        raise click.UsageError("--leave-out and --then belong to --end")
    if sum((until_caught_up, compare, ends)) > 1:
        raise click.UsageError("give one of --until-caught-up, --compare and --end")
    file = read_mapping(mapping)
    if ends:
        _print_end(asyncio.run(_end(settings, file, then, leave_out=leave_out)), as_json=as_json)
        return
    work = _compare(settings, file) if compare else _bring(settings, file, until_caught_up)
    found, report = asyncio.run(work)
    words = [*_words(found.differences)]
    words.append(_compared(found, report) if compare else _brought(found, report))
    print_result(_told(found, report), words, as_json=as_json)
    if found.differences:
        sys.exit(FOUND)


def _print_end(result: tuple[Ended, Path], *, as_json: bool) -> None:
    (ended, compared), report = result
    told: dict[str, Any] = {"ended": ended}
    words: list[str] = []
    if compared is not None:
        told |= _told(compared, report)
        words += [*_words(compared.differences), _compared(compared, report)]
    words.append(
        "the way back has ended: the source takes the writes"
        if ended
        else "nothing has ended: Pinway takes the writes"
    )
    print_result(told, words, as_json=as_json)
    if not ended:
        sys.exit(FOUND)


def _told(found: BackRound, report: Path) -> dict[str, Any]:
    return {
        **{name: getattr(found, name) for name in ("read", "changed", "left", "behind", "staying")},
        "differences": [_told_difference(one) for one in found.differences],
        "report": str(report),
    }


def _told_difference(one: Difference) -> dict[str, str | None]:
    where = one.subject.told(one.old)
    return {**where, "field": one.field, "pinway": one.pinway, "source": one.source}


def _words(differences: Sequence[Difference]) -> list[str]:
    return [
        f"{_name(one)}{' ' + one.field if one.field else ''}: {one.pinway} in Pinway, "
        f"{one.source} in the source"
        for one in differences
    ]


def _name(one: Difference) -> str:
    told = one.subject.told(one.old)
    if not told["id"]:
        return f"{told['kind']} {told['old']}"
    return f"{told['kind']} {told['id']}" + (f" ({told['old']})" if told["old"] else "")


def _brought(found: BackRound, report: Path) -> str:
    return f"{found.words()}; {_left(found, report)}"


def _compared(found: BackRound, report: Path) -> str:
    return (
        f"compared {counted(found.read, 'row')}: {counted(len(found.differences), 'difference')}; "
        f"{_left(found, report)}"
    )


def _left(found: BackRound, report: Path) -> str:
    others = f"{counted(found.staying, 'user')} of other migrations and of imports stay in Pinway; "
    return f"{others if found.staying else ''}{counted(found.left, 'change')} left out: {report}"


async def _bring(
    settings: Settings, mapping: Mapping, until_caught_up: bool
) -> tuple[BackRound, Path]:
    async with opened_back(settings, mapping) as back:
        check_not_ended(back.journal)
        click.echo(_STAYS, err=True)
        await back.way.begin()
        changed, told = 0, 0.0
        while True:
            found = await back.way.round()
            changed += found.changed
            whole, report = found._replace(changed=changed), back.way.write_report()
            if until_caught_up and found.is_caught_up:
                return whole, report
            if time.monotonic() - told >= _SAY:
                click.echo(_brought(whole, report), err=True)
                told = time.monotonic()
            await asyncio.sleep(0 if until_caught_up else _PAUSE)


async def _compare(settings: Settings, mapping: Mapping) -> tuple[BackRound, Path]:
    async with opened_back(settings, mapping) as back:
        check_not_ended(back.journal)
        await back.way.begin()
        return await back.way.compare(), back.way.write_report()


async def _end(
    settings: Settings, mapping: Mapping, then: str, *, leave_out: bool
) -> tuple[Ended, Path]:
    async with opened_back(settings, mapping) as back:
        click.echo(_STAYS, err=True)
        ended = await end(back, then=then, leave_out=leave_out)
        return ended, back.way.write_report()

"""`pinway doctor`, `config` and `plan`."""

import sys
from pathlib import Path
from typing import Any

import click

from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, table, tell
from gateway.operate import doctor
from gateway.operate.configuration import shown
from gateway.operate.plan import Demand, plan
from gateway.operate.progress import run_told
from gateway.operate.requests import answer
from gateway.settings import Settings


@click.command("doctor")
@as_json
@with_settings
def doctor_command(settings: Settings, as_json: bool) -> None:
    """Check the machine, the settings, every store and the background work; say what to do.

    The exit status is 3 when something is wrong, and 0 when there are only warnings.
    """
    findings = [finding._asdict() for finding in doctor.of_host(settings)]
    findings += run_told(doctor.of_open_stores(settings, answer))
    faults = sum(finding["state"] == doctor.FAULT for finding in findings)
    warnings = sum(finding["state"] == doctor.WARNING for finding in findings)
    words = table(findings, ("state", "check", "detail"))
    words += [f"{f['check']}: {f['advice']}" for f in findings if f["advice"]]
    counts = (faults, "fault"), (warnings, "warning"), (len(findings), "check")
    words.append(", ".join(counted(count, what) for count, what in counts))
    told = {"faults": faults, "warnings": warnings, "findings": findings}
    tell(told, words, as_json=as_json)
    sys.exit(FOUND if faults else 0)


@click.group("config")
def config() -> None:
    """The settings in force."""


@config.command("show")
@click.option("--config", "path", type=click.Path(path_type=Path), help="A TOML file of settings.")
@click.option(
    "--data-dir",
    type=click.Path(readable=False, path_type=Path),
    help="The embedded stores' directory.",
)
@click.option("--changed", is_flag=True, help="Only settings that differ from the defaults.")
@as_json
def show_command(path: Path | None, data_dir: Path | None, changed: bool, as_json: bool) -> None:
    """Show each setting's value and what set it; secrets are masked."""
    found = [
        setting._asdict()
        for setting in shown(path, {"data_dir": data_dir} if data_dir else {})
        if not changed or setting.source != "default"
    ]
    # Values come last: a long value would push the next column off the screen.
    words = table(found, ("name", "source", "value")) if found else ["every setting is a default"]
    tell(found, words, as_json=as_json)


@click.command("plan")
@click.option("--users", type=click.IntRange(1), required=True, help="Users in all.")
@click.option(
    "--pins-per-day", type=click.IntRange(0), required=True, help="New pins of all users."
)
@click.option(
    "--follows", type=click.IntRange(0), required=True, help="Follows of a user, on average."
)
@click.option(
    "--pages-per-day",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Pages of feeds and boards that a user reads a day.",
)
@click.option(
    "--years",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="For how long pins are kept on the planned disks.",
)
@click.option(
    "--peak",
    type=click.FloatRange(1),
    default=3.0,
    show_default=True,
    help="The busiest minute over the average.",
)
@as_json
def plan_command(as_json: bool, **given: Any) -> None:
    """Estimate servers, storage and fan-out for a load, and what breaks first.

    Every figure is printed with its formula. The constants were measured by bench/ on two
    shared cores: measure on your own machines before you buy machines.
    """
    lines = plan(Demand(**given))
    told = [line._asdict() for line in lines]
    words = [f"{line.name}: {line.value:,.4g} {line.unit}\n    = {line.formula}" for line in lines]
    tell(told, words, as_json=as_json)

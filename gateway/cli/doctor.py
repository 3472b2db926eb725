"""`pinway doctor`."""

import sys

import click

from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, counted, print_result, table
from gateway.operate import doctor
from gateway.operate.progress import run_reporting_waits
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
    findings += run_reporting_waits(doctor.of_open_stores(settings, answer))
    faults = sum(finding["state"] == doctor.FAULT for finding in findings)
    warnings = sum(finding["state"] == doctor.WARNING for finding in findings)
    words = table(findings, ("state", "check", "detail"))
    words += [f"{f['check']}: {f['advice']}" for f in findings if f["advice"]]
    counts = (faults, "fault"), (warnings, "warning"), (len(findings), "check")
    words.append(", ".join(counted(count, what) for count, what in counts))
    told = {"faults": faults, "warnings": warnings, "findings": findings}
    print_result(told, words, as_json=as_json)
    sys.exit(FOUND if faults else 0)

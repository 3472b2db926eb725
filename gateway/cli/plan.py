"""`pinway plan`."""

from typing import Any

import click

from gateway.cli.output import as_json, print_result
from gateway.operate.plan import Demand, plan


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
    "--visits-per-day",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Visits of the home feed that a user begins a day: their first pages cost most.",
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
    print_result(told, words, as_json=as_json)

"""`pinway train`: learns the order of the home feed."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click

from datasources.clocks import now_ms
from datasources.errors import ConfigError
from datasources.factory import open_switches
from feed_engine.feeds.learning.learned import Learned
from gateway.cli.options import with_settings
from gateway.cli.output import FOUND, as_json, print_result
from gateway.operate.progress import Bars
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site import learned_weights
from gateway.site.embedded_stores import check_made, topology_url


@click.command("train")
@click.option("--viewers", default=2_000, show_default=True, help="The most viewers to learn from.")
@click.option("--seed", default=0, show_default=True, help="Chooses the viewers and resamples.")
@click.option("--dry-run", is_flag=True, help="Only judge: install nothing.")
@click.option("--remove", is_flag=True, help="Use the settings' weights again, without training.")
@as_json
@with_settings
def train_command(
    settings: Settings, viewers: int, seed: int, dry_run: bool, remove: bool, as_json: bool
) -> None:
    """Learn the weights of the home feed's order from what viewers did.

    Visits, recorded events, likes and repins of the last 30 days are read. The last visits judge
    the learned order and the order by the settings' weights. All running gateways use the learned
    weights within a second, if they are better. The exit status is 3 when they are not.
    """
    if remove and dry_run:
        raise click.UsageError("--remove changes what --dry-run leaves as it is: choose one")
    if viewers < 1:
        raise ConfigError("--viewers must be 1 or more")
    check_made(settings)
    if remove:
        asyncio.run(_install(settings, None))
        print_result({"removed": True}, "the settings' weights hold", as_json=as_json)
        return
    request = {"command": "train", "viewers": viewers, "seed": seed}
    with Bars() as bars:
        found = dict(asyncio.run(answer(settings, request, bars)))
    better = found["weights"] is not None
    found["installed"] = better and not dry_run
    if found["installed"]:
        learned = Learned(**found["weights"], trained=now_ms())
        asyncio.run(_install(settings, learned))
    print_result(found, _words(found), as_json=as_json)
    if not better:
        sys.exit(FOUND)


async def _install(settings: Settings, learned: Learned | None) -> None:
    switches = open_switches(topology_url(settings))
    try:
        await learned_weights.install(switches, learned)
    finally:
        await switches.close()


def _words(found: Mapping[str, Any]) -> list[str]:
    told = [f"{found['actions']:,} actions on {found['examples']:,} shown pins were learned from"]
    if found["fitted"]:
        told += [
            f"formula: {_weights(found['settings'])}; AUC {found['formula']:.4f}",
            f"learned: {_weights(found['fitted'])}; AUC {found['learned']:.4f}",
            f"difference {found['learned'] - found['formula']:+.4f} (90%: {found['low']:+.4f} to "
            f"{found['high']:+.4f}), on {found['pairs']:,} pairs of {found['viewers']:,} viewers "
            "in the last visits",
        ]
    end = "the learned weights are installed" if found["installed"] else "nothing is installed"
    return [*told, f"{found['reason']}: {end}"]


def _weights(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items())

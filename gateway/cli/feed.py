"""`pinway feed`: which side of the feed stores is read, and the state of their races."""

import asyncio
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import click
from prometheus_client.parser import text_string_to_metric_families

from datasources.errors import ConfigError
from datasources.factory import open_switches
from datasources.protocols import Switches
from datasources.urls import mask
from feed_engine.speculation import Side
from gateway.cli.options import with_settings
from gateway.cli.output import as_json, print_result
from gateway.observe.metric_help import NAMES
from gateway.operate.progress import Bars, reporting_waits, run_reporting_waits
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made, topology_url
from gateway.site.feed_routes import AUTO, STORES, route, routes

_SECONDS = 5.0  # seconds to wait for a gateway's metrics

_ORDER = {"store": 0, "side": 1}
_COMBINED: dict[str, Callable[[Iterable[float]], float]] = {
    "cutoff_seconds": max,
    "distrust_ratio": max,
    "forced": max,
    "latency_seconds": max,
    "mode": max,
    "trust_ratio": min,
}
"""Metrics for which the worst value of several workers is shown. Other metrics are added up."""
Values = dict[tuple[str, ...], float]
"""Samples of a metric by the values of their labels: store, side, and the third label."""


@click.group("feed")
def feed() -> None:
    """The feed stores' primaries and standbys."""


@feed.command("route")
@click.argument("side", type=click.Choice([*(side.value for side in Side), AUTO]))
@click.option("--pools", is_flag=True, help="Only the stores of new pins.")
@click.option(
    "--feeds", is_flag=True, help="Only the stores of feeds as shown, and of the following feed."
)
@as_json
@with_settings
def route_command(settings: Settings, side: str, pools: bool, feeds: bool, as_json: bool) -> None:
    """Make all running gateways use SIDE only, even while SIDE fails, until `auto`."""
    chosen = tuple(s for s, on in zip(STORES, (pools, feeds), strict=True) if on) or STORES
    wanted = None if side == AUTO else Side(side)

    async def change(switches: Switches) -> dict[str, str]:
        return await route(switches, chosen, wanted)

    waits_for = _waits_for(settings)
    held = run_reporting_waits(_with_switches(settings, change), waits_for)
    print_result({"routes": held}, _told(held), as_json=as_json)


@feed.command("status")
@click.option("--url", help="The gateway to ask; by default the gateway that these settings name.")
@as_json
@with_settings
def status_command(settings: Settings, url: str | None, as_json: bool) -> None:
    """Show the routes, and the state of a running gateway's races."""

    async def load(switches: Switches) -> dict[str, str]:
        return routes(await switches.load())

    waits_for = _waits_for(settings)
    held = run_reporting_waits(_with_switches(settings, load), waits_for)
    if not as_json:
        print_result(None, _told(held), as_json=False)
    url = (url or settings.operators_url).rstrip("/")
    try:
        with (
            reporting_waits(f"the gateway at {url}"),
            urllib.request.urlopen(f"{url}/metrics", timeout=_SECONDS) as response,
        ):
            text = response.read().decode()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"no gateway answers at {url} ({_why(error)}): start one, or name another with --url"
        ) from None
    print_result({"routes": held, "races": measured(text)}, lines(text), as_json=as_json)


@feed.command("explain")
@click.argument("username")
@click.argument("pin", required=False, metavar="[PIN]")
@as_json
@with_settings
def explain_command(settings: Settings, username: str, pin: str | None, as_json: bool) -> None:
    """Show what USERNAME's next visit of the home feed shows, and why.

    With the id of a PIN, say whether the visit shows the pin, and why not. Nothing is stored. A
    score is a binary logarithm: 1 more is twice the interest. Its parts are told relative to the
    first pin's score in its pool.
    """
    check_made(settings)
    request = {"command": "feed explain", "username": username, "pin": pin}
    with Bars() as bars:
        found = asyncio.run(answer(settings, request, bars))
    print_result(found, explained(found), as_json=as_json)


def explained(found: Mapping[str, Any]) -> list[str]:
    """The explanation as lines."""
    pins: list[Mapping[str, Any]] = found["pins"]
    asked = found["asked"]
    every = [*pins, *([asked] if asked else [])]
    zero = max((each["score"]["in_pool"] for each in every), default=0.0)
    told = [f"{n:3}  {_entry(each, zero)}" for n, each in enumerate(pins, 1)]
    told = told or ["the next visit shows no new pin"]
    told += ["", _shares(found)]
    if found["learned"]:
        weights = ", ".join(f"{name} {weight:g}" for name, weight in found["weights"].items())
        told += ["", f"the weights are learned: {weights}"]
    if found["verdict"]:
        told += ["", f"{found['verdict'].lower()}: {found['because']}"]
    return told + ([f"     {_entry(asked, zero)}"] if asked else [])


def _shares(found: Mapping[str, Any]) -> str:
    by_source: Mapping[str, Mapping[str, float]] = found["shares"]
    parts = [
        f"{name} {each['share']:.0%} (liked {each['liked']:g} of {each['shown']:g} shown)"
        for name, each in by_source.items()
    ]
    by = "what the viewer liked of recent visits" if found["shares_learned"] else "the settings"
    return f"shares by {by}: {', '.join(parts)}"


def _entry(each: Mapping[str, Any], zero: float) -> str:
    score = each["score"]
    parts = [f"in its pool {score['in_pool'] - zero:+.2f}"]
    parts += [f"{name} {score[name]:+.2f}" for name in list(score)[1:] if score[name]]
    cause = f" {each['cause']}" if each["cause"] else ""
    return f"{each['id']} {each['title'][:40]!r}: {each['reason']}{cause}; {', '.join(parts)}"


def _waits_for(settings: Settings) -> str:
    return f"the stores: the topology at {mask(topology_url(settings))}"


def _why(error: OSError | ValueError) -> str:
    """The cause of an error, without Python's and the system's names and numbers."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return (isinstance(cause, OSError) and cause.strerror) or str(cause)


async def _with_switches(
    settings: Settings, act: Callable[[Switches], Awaitable[dict[str, str]]]
) -> dict[str, str]:
    switches = open_switches(topology_url(settings))
    try:
        return await act(switches)
    finally:
        await switches.close()


def _told(held: dict[str, str]) -> list[str]:
    return [f"{store}: route {side}" for store, side in held.items()]


def measured(text: str) -> dict[str, dict[str, float]]:
    """The races' metrics, by name and by the values of their labels."""
    return {
        name: {" ".join(labels): value for labels, value in values.items()}
        for name, values in _metrics(text).items()
    }


def lines(text: str) -> list[str]:
    """The state of the races as text, from the metrics. With several workers, counts are added up;
    the highest cutoffs and latencies and the lowest trust are shown."""
    metrics = _metrics(text)
    found: list[str] = []
    for store in STORES:
        found += _race_lines(store, metrics)
    return found


def _metrics(text: str) -> dict[str, Values]:
    metrics: dict[str, Values] = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if "store" in sample.labels:
                labels = sorted(
                    sample.labels.items(), key=lambda one: _ORDER.get(one[0], len(_ORDER))
                )
                key = tuple(value for label, value in labels if label != "worker")
                name = sample.name.removeprefix("pinway_feed_")
                before = metrics[name].get(key)
                combine = _COMBINED.get(name, sum)
                metrics[name][key] = (
                    sample.value if before is None else combine((before, sample.value))
                )
    return metrics


def _race_lines(store: str, metrics: dict[str, Values]) -> list[str]:
    def one(field: str) -> float:
        name = NAMES.get(field, field)
        return metrics[name].get((store,), metrics[f"{name}_total"].get((store,), 0.0))

    told = [
        f"{store}: {one('calls'):.0f} calls, {one('failed'):.0f} failed; "
        f"answered by the primary {one('primary_answers'):.0f}, "
        f"by the standby {one('standby_answers'):.0f}",
        f"  trust in the primary {one('trust'):.0%}, outages {one('outages'):.0f}, "
        f"returns {one('returns'):.0f}",
        f"  cutoff {one('cutoff') * 1000:.1f} ms, late {one('late'):.0f}, hedged "
        f"{one('hedges'):.0f}, not allowed by the budget {one('refused'):.0f}",
    ]
    for side in ("primary", "standby"):
        modes = [k[2] for k in metrics["mode"] if k[:2] == (store, side)]
        latency = metrics["latency_seconds"]
        seen = ", ".join(
            f"p{float(k[2]) * 100:g} {_ms(latency[k])}" for k in latency if k[:2] == (store, side)
        )
        forced = ", forced" if metrics["forced"].get((store, side)) else ""
        mode = ", ".join(modes) or "unknown"
        if metrics["pinway_store_up"].get((f"{store}_{side}",)) == 0:
            mode = "does not answer" if mode == "well" else f"does not answer, {mode}"
        told.append(f"  {side}: {mode}{forced}; {seen or 'not measured'}")
    budget = metrics["budget"]
    told.append(
        f"  budget: {budget.get((store, 'late'), 0):.1f} calls for late ones, "
        f"{budget.get((store, 'ill'), 0):.1f} while the primary is ill"
    )
    caught, behind = one("caught_up"), one("left_behind")
    staleness = f"  staleness: {one('differing'):.0f} of {one('compared'):.0f} answers differed"
    if caught:
        staleness += f"; the standby lagged {one('lag_seconds') / caught * 1000:.0f} ms"
    if behind:
        staleness += f"; {behind:.0f} times longer than it was watched"
    told.append(staleness)
    return told


def _ms(seconds: float) -> str:
    return "unknown" if seconds == float("inf") else f"{seconds * 1000:.1f} ms"

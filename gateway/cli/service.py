"""`pinway run`, `serve` and `init`."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import Any

import click

from datasources.errors import Damaged, StoreCorrupt
from gateway.cli.options import override, with_settings
from gateway.observe.logs import start_logging
from gateway.operate.progress import Bars
from gateway.server.listener import listen, listen_for_operators
from gateway.server.loops import fast_loop, run_until_stopped
from gateway.server.phases import since_the_start
from gateway.server.process import serve, work
from gateway.server.shared_stores import require_servers, require_shared
from gateway.server.supervisor import WorkerFailed, supervise
from gateway.settings import Settings
from gateway.site.installation import install
from gateway.site.inventory import STORES

DEMO_VIEWER = "demo"


@click.command("run")
@click.option("--host", help="The address for clients.")
@click.option("--port", type=int, help="The port for clients.")
@click.option("--admin-host", help="The address for operators.")
@click.option("--admin-port", type=int, help="The port for operators: metrics, the stores' states.")
@click.option("--times", is_flag=True, help="Print the seconds of each phase of the start.")
@with_settings
def run_command(settings: Settings, times: bool, **given: Any) -> None:
    """Run the gateway with embedded stores and demo content: nothing else is needed."""
    viewer = settings.auth.demo_viewer or DEMO_VIEWER
    settings = override(settings, given, {"auth.demo_viewer": viewer, "http.workers": 1})
    phases = since_the_start()
    phases.end("importing the modules")

    def ready() -> None:
        phases.end("getting ready to listen")
        if times:
            click.echo(f"pinway: {phases}", err=True)

    _serve(settings, demo=True, on_phase=phases.end, on_ready=ready)


@click.command("serve")
@click.option("--host", help="The address for clients.")
@click.option("--port", type=int, help="The port for clients.")
@click.option("--admin-host", help="The address for operators.")
@click.option("--admin-port", type=int, help="The port for operators: metrics, the stores' states.")
@click.option("--workers", type=int, help="How many processes answer; one by default.")
@click.option(
    "--production",
    is_flag=True,
    default=None,
    help="Hide the schema (no introspection, suggestions or GraphiQL); refuse a demo viewer.",
)
@with_settings
def serve_command(settings: Settings, **given: Any) -> None:
    """Run the gateway on the stores that the settings name."""
    settings = override(settings, given)
    _serve(settings, demo=False)


@click.command("worker")
@click.option("--queues", help="The priorities to take, as urgent,normal; all by default.")
@click.option("--concurrency", type=int, help="Jobs at a time.")
@click.option("--admin-host", help="The address for operators.")
@click.option("--admin-port", type=int, help="The port for operators: metrics, the stores' states.")
@with_settings
def worker_command(settings: Settings, **given: Any) -> None:
    """Run background jobs and answer no requests, beside gateways on the real stores.

    With some workers for urgent jobs only, a follow or a visit never waits behind large fan-outs.
    """
    settings = override(settings, given, {"jobs.run": True})
    start_logging(settings)
    require_servers(settings)
    operators = listen_for_operators(settings)
    with operators or nullcontext():
        run_until_stopped(work(settings, operators), fast_loop)


@click.command("init")
@click.option(
    "--accept-loss",
    type=click.Choice(STORES),
    multiple=True,
    help="Create this store again, empty, although its data is lost.",
)
@with_settings
def init_command(settings: Settings, accept_loss: tuple[str, ...]) -> None:
    """Make what the stores need: the topology, the shards' databases, the feeds' tables.

    A second run, after an upgrade, makes only what is missing. A store that lost its data is
    not created again: the command says what to do.
    """
    start_logging(settings)
    with Bars() as bars:
        asyncio.run(install(settings, bars, accept_loss=accept_loss))
    click.echo("The stores are ready: start the gateway with `pinway serve`.", err=True)


def _serve(
    settings: Settings,
    *,
    demo: bool,
    on_phase: Callable[[str], None] = lambda name: None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until stopped. A single process calls `on_phase` and `on_ready`, see `serve`."""
    start_logging(settings)
    require_shared(settings)
    with ExitStack() as opened:
        listener = opened.enter_context(listen(settings))
        operators = listen_for_operators(settings)
        if operators is not None:
            opened.enter_context(operators)
        try:
            if settings.http.workers > 1:
                run_until_stopped(supervise(settings, listener, operators))
            else:
                serving = serve(
                    settings,
                    listener,
                    operators=operators,
                    demo=demo,
                    on_phase=on_phase,
                    on_ready=on_ready,
                )
                run_until_stopped(serving, fast_loop)
        except WorkerFailed:
            sys.exit(1)
        except Damaged:
            raise
        except StoreCorrupt as error:
            raise StoreCorrupt(
                f"{error}; restore it from a copy, or move {settings.data_dir} away to start afresh"
            ) from error

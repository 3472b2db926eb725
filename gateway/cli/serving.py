"""`pinway run`, `serve` and `init`."""

import asyncio
import sys

import click

from datasources.errors import Damaged, StoreCorrupt
from gateway.cli.options import override, with_settings
from gateway.installing import install
from gateway.progress import Bars
from gateway.serving.listening import listen
from gateway.serving.loops import fast_loop, run_until_stopped
from gateway.serving.process import serve, start_logging
from gateway.serving.shared import require_shared
from gateway.serving.supervisor import WorkerFailed, supervise
from gateway.settings import Settings

DEMO_VIEWER = "demo"


@click.command("run")
@click.option("--host", help="Where to listen.")
@click.option("--port", type=int, help="Where to listen.")
@with_settings
def run_command(settings: Settings, host: str | None, port: int | None) -> None:
    """Run the gateway with embedded stores and demo content: nothing else is needed."""
    settings = override(
        settings, host=host, port=port, demo_viewer=settings.demo_viewer or DEMO_VIEWER, workers=1
    )
    _serve(settings, demo=True)


@click.command("serve")
@click.option("--host", help="Where to listen.")
@click.option("--port", type=int, help="Where to listen.")
@click.option("--workers", type=int, help="How many processes answer; one by default.")
@with_settings
def serve_command(
    settings: Settings, host: str | None, port: int | None, workers: int | None
) -> None:
    """Run the gateway on the stores that the settings name."""
    settings = override(settings, host=host, port=port, workers=workers)
    _serve(settings, demo=False)


@click.command("init")
@with_settings
def init_command(settings: Settings) -> None:
    """Make what the stores need: the topology, the shards' databases, the feeds' tables."""
    start_logging(settings)
    with Bars() as bars:
        asyncio.run(install(settings, bars))
    click.echo("The stores are ready: start the gateway with `pinway serve`.", err=True)


def _serve(settings: Settings, *, demo: bool) -> None:
    start_logging(settings)
    require_shared(settings)
    with listen(settings) as listener:
        try:
            if settings.workers > 1:
                run_until_stopped(supervise(settings, listener))
            else:
                run_until_stopped(serve(settings, listener, demo=demo), fast_loop)
        except WorkerFailed:
            sys.exit(1)
        except Damaged:
            raise
        except StoreCorrupt as error:
            raise StoreCorrupt(
                f"{error}; restore it from a copy, or move {settings.data_dir} away to start afresh"
            ) from error

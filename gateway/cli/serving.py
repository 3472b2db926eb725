"""`pinway run`, `serve` and `init`."""

import asyncio
import logging
import socket

import click
import uvicorn

from datasources.errors import ConfigError, Damaged, StoreCorrupt
from gateway.app import create_app
from gateway.auth import Tokens
from gateway.cli.options import override, with_settings
from gateway.cli.progress import Bars
from gateway.demo.fill import demo_is_loaded, fill_demo
from gateway.installing import install
from gateway.runtime import Runtime, running
from gateway.settings import EMBEDDED, Settings

DEMO_VIEWER = "demo"


@click.command("run")
@click.option("--host", help="Where to listen.")
@click.option("--port", type=int, help="Where to listen.")
@with_settings
def run_command(settings: Settings, host: str | None, port: int | None) -> None:
    """Run the gateway with embedded stores and demo content: nothing else is needed."""
    settings = override(
        settings, host=host, port=port, demo_viewer=settings.demo_viewer or DEMO_VIEWER
    )
    _serve(settings, demo=True)


@click.command("serve")
@click.option("--host", help="Where to listen.")
@click.option("--port", type=int, help="Where to listen.")
@with_settings
def serve_command(settings: Settings, host: str | None, port: int | None) -> None:
    """Run the gateway on the stores that the settings name."""
    settings = override(settings, host=host, port=port)
    _serve(settings, demo=False)


@click.command("init")
@with_settings
def init_command(settings: Settings) -> None:
    """Make what the stores need: the topology, the shards' databases, the feeds' tables."""
    _logging(settings)
    with Bars() as bars:
        asyncio.run(install(settings, bars))


def _serve(settings: Settings, *, demo: bool) -> None:
    _logging(settings)
    listener = _listen(settings)
    try:
        asyncio.run(_serve_until_stopped(settings, listener, demo))
    except KeyboardInterrupt:
        pass
    except Damaged:
        raise
    except StoreCorrupt as error:
        raise StoreCorrupt(
            f"{error}; restore it from a copy, or move {settings.data_dir} away to start afresh"
        ) from error
    finally:
        listener.close()


async def _serve_until_stopped(settings: Settings, listener: socket.socket, demo: bool) -> None:
    if EMBEDDED in (settings.topology, settings.pools_primary, settings.feeds_primary):
        with Bars() as bars:
            await install(settings, bars)
    async with running(settings) as runtime:
        if demo and not await demo_is_loaded(runtime.stores):
            with Bars() as bars:
                await fill_demo(runtime.stores, settings.data_dir, bars)
        if settings.demo_viewer:
            await _greet(settings, runtime)
        config = uvicorn.Config(
            create_app(settings, runtime),
            log_level=settings.log_level,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        await uvicorn.Server(config).serve(sockets=[listener])


def _listen(settings: Settings) -> socket.socket:
    """The listening socket, taken before anything else is started."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        named = isinstance(error, socket.gaierror)
        raise ConfigError(
            f"can't listen on {settings.host} port {settings.port}: {error.strerror}; "
            + (
                "choose another --host"
                if named
                else "stop what does, or choose another with --port"
            )
        ) from None
    return listener


async def _greet(settings: Settings, runtime: Runtime) -> None:
    """Say what to open, and as whom."""
    found = await runtime.stores.shards.mod.find("username", [settings.demo_viewer])
    tokens = Tokens(settings.secret, settings.token_hours)
    click.echo(f"\n  GraphiQL   {settings.url}/graphql", err=True)
    if viewer_id := found.get(settings.demo_viewer):
        token = tokens.issue(viewer_id)
        click.echo(f"  Signed in  {settings.demo_viewer}", err=True)
        click.echo(f"  Token      {token}", err=True)
    click.echo("  Stop with Ctrl-C.\n", err=True)


def _logging(settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    for driver in ("kazoo", "streaq", "coredis"):  # what matters of theirs comes as our errors
        logging.getLogger(driver).setLevel(logging.WARNING)

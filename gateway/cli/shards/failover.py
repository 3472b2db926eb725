"""`pinway shards promote`, `resume` and `watch`: the slave of a dead master takes its place, and
restarted servers go back to their work."""

import asyncio
import signal

import click

from datasources.errors import ConfigError, StoreError
from datasources.replication.observation import Rules
from gateway.cli.options import with_dry_run, with_settings
from gateway.cli.shards.operation import run
from gateway.operate.failover import promotion, resumer
from gateway.operate.failover.observer import watch
from gateway.operate.failover.work import Work
from gateway.settings import Settings


@click.command("promote")
@click.argument("host")
@click.option(
    "--accept-loss", is_flag=True, help="Promote HOST even if it may lack acknowledged writes."
)
@click.option("--restored", is_flag=True, help="HOST was restored from a backup of a lost pair.")
@click.option("--over", help="The lost master; needed if HOST was restored, and was not its slave.")
@with_dry_run
@with_settings
def promote_command(
    settings: Settings,
    host: str,
    accept_loss: bool,
    restored: bool,
    over: str | None,
    dry_run: bool,
) -> None:
    """Make slave HOST the master of its master's shards. The old master may be dead, or hang.

    Afterwards HOST has no slave: `pinway shards attach` gives it one.
    """
    if over is not None and not restored:
        raise ConfigError("--over is for --restored: a slave takes the place of its own master")

    async def promote(work: Work) -> None:
        old = promotion.predecessor(work.topology, host, over=over, restored=restored)
        if dry_run:
            click.echo(f"would make {host} the master of all shards of {old}")
            return
        await promotion.promote(work, host, old, accept_loss=accept_loss, restored=restored)

    run(settings, f"promote {host}", promote)


@click.command("resume")
@with_settings
def resume_command(settings: Settings) -> None:
    """Open restarted masters, and start restarted slaves.

    All servers boot read-only, because a slave may have been promoted meanwhile. So both servers of
    a pair are asked first.
    """
    resumed: list[str] = []

    def tell(line: str) -> None:
        resumed.append(line)
        click.echo(line)

    async def resume(work: Work) -> None:
        faults = await resumer.resume(work)
        if faults:
            raise StoreError("; ".join(faults.values()))
        if not resumed:
            click.echo("no server waits to be resumed")

    run(settings, "resume", resume, tell)


@click.command("watch")
@click.option("--promote", is_flag=True, help="Promote the slave of a silent master.")
@click.option("--resume", is_flag=True, help="Bring restarted servers back, like `resume`.")
@click.option(
    "--quorum",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Observers that must find a master silent; also more than half of all.",
)
@click.option(
    "--after",
    type=click.FloatRange(min=1),
    default=10.0,
    show_default=True,
    help="Seconds after which a master is called silent.",
)
@click.option(
    "--cool-down",
    type=click.FloatRange(min=0),
    default=600.0,
    show_default=True,
    help="Seconds after a promotion in which the pair is not promoted again.",
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="Seconds between two observations.",
)
@with_settings
def watch_command(
    settings: Settings,
    promote: bool,
    resume: bool,
    quorum: int,
    after: float,
    cool_down: float,
    every: float,
) -> None:
    """Observe all masters until it is stopped; with --promote, promote the slave of a dead one.

    Run it on several hosts: a promotion needs --quorum of them.
    """
    rules = Rules(promote, quorum, after, cool_down)

    async def observe() -> None:
        end = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, end.set)
        await watch(settings, rules, every, click.echo, end, resumes=resume)

    asyncio.run(observe())

"""Opens what the way back works with, and ends it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from datasources.errors import ConfigError, StoreError
from gateway.operate.migration.back.ledger import FILLED
from gateway.operate.migration.back.rounds import BackRound, WayBack
from gateway.operate.migration.back.targets import Target
from gateway.operate.migration.cut_over import DONE, ENDED, run
from gateway.operate.migration.following import store_position
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Ledger
from gateway.operate.migration.mapping import Mapping
from gateway.operate.migration.opening import opened_copied, opened_source
from gateway.settings import Settings
from gateway.site.shards_only import opened_shards, shards_config

if TYPE_CHECKING:
    from datasources.mysql.source import Source
    from datasources.mysql.source_writer import SourceWriter

_ROUNDS = 100  # of which one must find no change


class Back(NamedTuple):
    """The open way back of a migration."""

    way: WayBack
    journal: Journal
    source: "Source"
    writer: "SourceWriter"


class Ended(NamedTuple):
    """The result of an attempt to end. `done`: the old database takes the writes."""

    done: bool
    compared: BackRound | None


@asynccontextmanager
async def opened_back(settings: Settings, mapping: Mapping) -> AsyncIterator[Back]:
    """The way back. It needs the shards alone, so a gateway may have embedded stores open. Raises
    ConfigError if the old database has the newer state."""
    with opened_copied(settings, mapping) as journal:
        if journal.fact(DONE) is None and journal.fact(ENDED) is None:
            raise ConfigError(
                f"{mapping.name} was not cut over: until then, the source has the newer state, "
                "which the way back would overwrite"
            )
        config = shards_config(settings)
        async with opened_source(mapping) as (source, plans), opened_shards(config) as shards:
            ledger = Ledger(journal, [(it.table.name, it.mapping.becomes) for it in plans])
            ledger.take_over()
            writer = source.writer()
            try:
                targets = [Target(plan, await writer.columns(plan.table)) for plan in plans]
                way = WayBack(shards, source, writer, targets, journal, ledger)
                yield Back(way, journal, source, writer)
            finally:
                writer.close()


def check_not_ended(journal: Journal) -> None:
    """Raises ConfigError if the old database takes the writes again."""
    if journal.fact(ENDED) is not None:
        raise ConfigError(
            "this way back has ended: the old database has the newer state, which Pinway would "
            "overwrite"
        )


async def end(back: Back, *, then: str, leave_out: bool) -> Ended:
    """Bring all that is left, compare both sides, and let the old database take the writes. With
    differences, nothing ends, unless they are left out. An end that was interrupted goes on."""
    compared: BackRound | None = None
    if back.journal.fact(ENDED) is None:
        await back.way.begin()
        await _bring_all(back.way)
        compared = await back.way.compare()
        if (compared.differences or compared.left) and not leave_out:
            return Ended(done=False, compared=compared)
        position = await back.source.log_position()
        with back.journal.spool.transaction():
            if position is not None:
                store_position(back.journal, position)  # its changes since are followed
            back.journal.set_fact(ENDED, str(position))
            back.journal.forget_fact(DONE)
            back.journal.forget_fact(FILLED)
    await back.writer.let_write()
    await run(then, "the old database takes writes; run the command again")
    return Ended(done=True, compared=compared)


async def _bring_all(way: WayBack) -> None:
    """Bring changes until there are none, and then all that differs for another reason."""
    for _ in range(_ROUNDS):
        if not (await way.round()).changed:
            await way.round(everything=True)
            return
    raise StoreError("Pinway is still written to: stop its writes, and end the way back then")

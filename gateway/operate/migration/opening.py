"""Opens what a command on a migration works with: the source, the journal and the stores."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from datasources.errors import ConfigError
from gateway.operate.imports.scratch import database_errors
from gateway.operate.migration.journal import JOURNAL, Journal
from gateway.operate.migration.ledger import Ledger
from gateway.operate.migration.mapping import Mapping
from gateway.operate.migration.source_checks import TablePlan, plans
from gateway.settings import Settings
from gateway.site.directory import make_directory
from gateway.site.embedded_stores import check_made, file_of_shards
from gateway.site.runtime import Runtime, running

if TYPE_CHECKING:
    from datasources.mysql.source import Source

PASSWORD = "PINWAY_SOURCE_PASSWORD"


class Opened(NamedTuple):
    """The source, and what to read from it."""

    source: "Source"
    plans: list[TablePlan]


class Work(NamedTuple):
    """A copied migration, with open stores that run jobs."""

    mapping: Mapping
    source: "Source"
    plans: list[TablePlan]
    journal: Journal
    ledger: Ledger
    runtime: Runtime


@asynccontextmanager
async def opened_source(mapping: Mapping) -> AsyncIterator[Opened]:
    """The source and what to read from it. Raises BadMapping, and ConfigError without a driver."""
    try:
        from datasources.mysql.source import Source
    except ImportError as error:
        raise ConfigError(f"pip install 'pinway[servers]' for a migration: {error}") from None
    password = os.environ.get(PASSWORD, "")
    source = Source(mapping.source, password=password, ca=mapping.ca)
    try:
        yield Opened(source, await plans(mapping, source))
    finally:
        await source.close()


@contextmanager
def opened_journal(settings: Settings, mapping: Mapping) -> Iterator[Journal]:
    """The migration's journal under data_dir, which is made if there is none."""
    make_directory(settings.data_dir.resolve())
    folder = _folder(settings, mapping)
    with database_errors(f"the journal in {folder}"), closing(Journal(folder, mapping)) as journal:
        yield journal


@contextmanager
def opened_copied(settings: Settings, mapping: Mapping) -> Iterator[Journal]:
    """The journal of a copy that has ended. Raises ConfigError if there is none."""
    folder = _folder(settings, mapping)
    if not (folder / JOURNAL).exists():
        raise ConfigError(
            f"there is no copy of {mapping.name} in {folder}: run pinway migrate copy first, or "
            "give the --config and the --data-dir of the copy"
        )
    with opened_journal(settings, mapping) as journal:
        if journal.fact("copied") is None:
            raise ConfigError(
                f"no copy of {mapping.name} has ended yet: run pinway migrate copy to its end first"
            )
        yield journal


def _folder(settings: Settings, mapping: Mapping) -> Path:
    return file_of_shards(settings, "migrations", mapping.name)


@asynccontextmanager
async def opened_work(settings: Settings, mapping: Mapping) -> AsyncIterator[Work]:
    """A copied migration. Raises ConfigError if no copy has ended."""
    with opened_copied(settings, mapping) as journal:
        check_made(settings)
        async with opened_source(mapping) as (source, found), running(settings) as runtime:
            becomes = [(plan.table.name, plan.mapping.becomes) for plan in found]
            ledger = Ledger(journal, becomes)
            ledger.take_over()
            yield Work(mapping, source, found, journal, ledger, runtime)

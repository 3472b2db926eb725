"""The primary feed store stops answering while a user scrolls: the standby serves the rest."""

from pathlib import Path
from typing import Any, cast

import pytest

import gateway.site.runtime
from datasources.errors import StoreUnavailable
from datasources.protocols import Sides, WideColumnStore
from gateway.settings import read_settings
from gateway.site.installation import install
from tests.gateways import gateway_on
from tests.outside import primary_outage

pytestmark = pytest.mark.anyio
PINS = 75  # three visits' new pins


class Mortal:
    """A real store that answers until it is killed."""

    def __init__(self, store: WideColumnStore) -> None:
        self._store, self.dead = store, False

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name == "close":
            return call

        async def answered(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                raise StoreUnavailable(f"no answer to {name}")
            return await call(*args, **kwargs)

        return answered


async def test_scrolling_goes_on_over_the_standby_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    primaries: list[Mortal] = []
    opened = gateway.site.runtime.open_stores

    async def open_mortal(config: Any) -> Any:
        stores = await opened(config)
        mortal = [Mortal(sides.primary) for sides in (stores.pools, stores.feeds)]
        primaries.extend(mortal)
        pools, feeds = (cast(WideColumnStore, primary) for primary in mortal)
        return stores._replace(
            pools=Sides(pools, stores.pools.standby), feeds=Sides(feeds, stores.feeds.standby)
        )

    async def kill() -> None:
        for primary in primaries:
            primary.dead = True

    settings = read_settings(options={"data_dir": tmp_path, "jobs.run": False})
    await install(settings, lambda progress: None)
    monkeypatch.setattr(gateway.site.runtime, "open_stores", open_mortal)
    async with gateway_on(settings) as found:
        primary_outage.check(await primary_outage.scroll(found, settings, PINS, kill), PINS)

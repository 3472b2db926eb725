"""New shards are marked as indexed for comments by author, unlike shards of earlier versions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from datasources.protocols import Stores
from feed_engine.writes.comment_index import not_indexed
from gateway.operate import doctor
from gateway.settings import Settings
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.older_comments import forget_index

pytestmark = pytest.mark.anyio


async def make(data: Path, *accepted: str) -> None:
    await install(Settings(data_dir=data), lambda progress: None, accept_loss=accepted)


@asynccontextmanager
async def opened(data: Path) -> AsyncIterator[Stores]:
    async with running(Settings(data_dir=data), jobs=False) as runtime:
        yield runtime.stores


async def finding(stores: Stores) -> doctor.Finding:
    found = await doctor.of_stores(Settings(), stores)
    [told] = [it for it in found if it.check == "comments by author"]
    return told


async def test_a_new_installation_is_indexed_and_an_upgraded_one_is_told_what_to_do(
    tmp_path: Path,
) -> None:
    await make(tmp_path)
    async with opened(tmp_path) as stores:
        assert await not_indexed(stores.shards) == []
        assert (await finding(stores)).state == doctor.OK
        await forget_index(stores)
    await make(tmp_path)
    async with opened(tmp_path) as stores:
        shards = stores.shards.objects.topology().open_shards
        assert await not_indexed(stores.shards) == shards
        told = await finding(stores)
        assert told.state == doctor.WARNING
        assert told.detail.startswith(f"{len(shards)} of {len(shards)} shards are not indexed")
        assert "`pinway user index-comments`" in told.advice


async def test_an_installation_that_was_interrupted_is_indexed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("feed_engine.writes.comment_index.mark_new", killed)
        with pytest.raises(KeyboardInterrupt):
            await make(tmp_path)
    assert (tmp_path / "shards").is_dir()
    await make(tmp_path)
    async with opened(tmp_path) as stores:
        assert await not_indexed(stores.shards) == []


async def test_a_shard_that_was_lost_and_is_new_is_indexed(tmp_path: Path) -> None:
    await make(tmp_path)
    (tmp_path / "shards/db00001.sqlite").unlink()
    await make(tmp_path, "shards")
    async with opened(tmp_path) as stores:
        assert await not_indexed(stores.shards) == []

"""Dumps to a bucket of a real S3 service."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from datasources.errors import ConfigError, StoreUnavailable
from datasources.sqlite import SqliteShards
from gateway.operate.dumps.manifest import NAME
from gateway.operate.dumps.places import opened
from tests.dumps.filled_shards import dumped, fill, sums_of_dump, sums_of_shards, written
from tests.dumps.logged_shards import change, differences, increment, opened_shards, topology
from tests.embedded_stores import sqlite_topology
from tests.pinway_process import free_port
from tests.s3 import PASSWORD, USER, s3_service

pytestmark = pytest.mark.anyio
BUCKET = "warehouse"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the service, and the folder in which it keeps the bucket."""
    folder = tmp_path_factory.mktemp("s3")
    with s3_service(folder, BUCKET) as address:
        yield address, folder / "data" / BUCKET


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)


async def test_a_dump_to_a_bucket_has_each_row_once(
    service: tuple[str, Path], tmp_path: Path
) -> None:
    address, folder = service
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    await shards.create()
    await fill(shards, 0)
    to = f"s3://{BUCKET}/of/pinway"
    pictures = f"s3://pictures?endpoint={address}"
    async with opened(f"{to}?endpoint={address}") as place:
        manifest = await written(shards, place, to, by="month")
        assert set(await place.names("")) == {NAME, *(file.name for file in manifest.files)}
        with pytest.raises(ConfigError, match="has a finished dump"):
            await written(shards, place, to, by="month")
    assert sums_of_dump(folder / "of/pinway") == await sums_of_shards(shards)
    await fill(shards, 0)
    async with opened(to, pictures) as place:  # the service of the pictures
        manifest = await written(shards, place, to, by="year", replace=True)
        assert set(await place.names("")) == {NAME, *(file.name for file in manifest.files)}
    assert sums_of_dump(folder / "of/pinway") == await sums_of_shards(shards)
    await shards.close()


async def test_an_increment_follows_a_dump_in_a_bucket(
    service: tuple[str, Path], tmp_path: Path, port: int
) -> None:
    address, folder = service
    pictures = f"s3://pictures?endpoint={address}"
    shards = opened_shards(topology(port, 100, 1))
    await shards.create()
    await fill(shards, 100)
    async with opened(f"s3://{BUCKET}/logged/dump", pictures) as place:
        await written(shards, place, "dump")
    await change(shards, 100, random.Random(1))
    since, to = f"s3://{BUCKET}/logged/dump", f"s3://{BUCKET}/logged/changes/1"
    found = await increment(shards, since, to, pictures)
    assert (found.number, found.rows > 0) == (1, True)
    with pytest.raises(ConfigError, match=r"logged/none has no dump: name the place of the last"):
        await increment(shards, f"s3://{BUCKET}/logged/none", to, pictures)
    await dumped(shards, folder / "logged/full")
    await shards.close()
    assert differences(folder / "logged", "full") == {}


async def test_a_service_that_does_not_answer_is_told(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    to = f"s3://{BUCKET}?endpoint=http://127.0.0.1:{free_port()}"
    async with opened(to) as place:
        with pytest.raises(StoreUnavailable, match=rf"the dump in s3://{BUCKET}: list failed"):
            await written(shards, place, to)
    await shards.close()

"""Dumps to a place that has a dump, or other files."""

from pathlib import Path

import pytest

from datasources.errors import ConfigError
from datasources.sqlite import SqliteShards
from gateway.operate.dumps import dump as dumps
from gateway.operate.dumps.dump import begin
from gateway.operate.dumps.manifest import NAME
from gateway.operate.dumps.places import opened
from tests.dumps.filled_shards import dumped, fill, sums_of_dump, sums_of_shards
from tests.embedded_stores import sqlite_topology

pytestmark = pytest.mark.anyio


async def test_a_finished_dump_is_replaced_only_on_demand(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    await shards.create()
    await fill(shards, 0)
    to = tmp_path / "dump"
    await dumped(shards, to, by="year")
    before = {path: path.stat().st_mtime_ns for path in to.rglob("*")}
    with pytest.raises(ConfigError, match=r"has a finished dump, of .*: name a new place, or"):
        await dumped(shards, to)
    assert {path: path.stat().st_mtime_ns for path in to.rglob("*")} == before
    await fill(shards, 0)
    await dumped(shards, to, by="month", replace=True)
    assert sums_of_dump(to) == await sums_of_shards(shards)
    assert not any(path.is_file() for path in to.rglob("year=*/*"))
    assert {path.stat().st_mode & 0o77 for path in to.rglob("*.*")} == {0}
    await shards.close()


async def test_other_files_are_neither_mixed_with_a_dump_nor_removed(tmp_path: Path) -> None:
    async with opened(str(tmp_path)) as place:
        await place.put("letter.txt", b"dear")
        with pytest.raises(ConfigError, match="is not empty, and has no dump: name a new place"):
            await begin(place, "there", "day", source="test", replace=True)
        assert await place.names("") == ["letter.txt"]
        await place.delete(["letter.txt"])
        await begin(place, "there", "day", source="test", replace=False)
        await place.put("letter.txt", b"dear")
        await begin(place, "there", "day", source="test", replace=True)
        assert set(await place.names("")) == {"letter.txt", NAME}


async def test_a_file_of_that_name_that_is_no_manifest_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"format": 1}')
    async with opened(str(tmp_path)) as place:
        with pytest.raises(ConfigError, match="is not the manifest of a dump"):
            await begin(place, "there", "day", source="test", replace=False)


async def test_an_unfinished_dump_goes_on_with_the_same_periods(tmp_path: Path) -> None:
    async with opened(str(tmp_path)) as place:
        await begin(place, "there", "month", source="test", replace=False)
        with pytest.raises(ConfigError, match="unfinished dump by month: continue with --by month"):
            await begin(place, "there", "day", source="test", replace=False)


async def test_two_dumps_to_one_folder_do_not_run_at_a_time(tmp_path: Path) -> None:
    async with opened(str(tmp_path)):
        with pytest.raises(ConfigError, match=r"another dump to .* runs now"):
            async with opened(str(tmp_path)):
                pass


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="can't write a dump to"):
        async with opened(str(tmp_path / "file" / "dump")):
            pass


async def test_another_scheme_than_s3_is_told() -> None:
    with pytest.raises(ConfigError, match="name a folder, or s3://BUCKET/PREFIX"):
        async with opened("gs://warehouse/pinway"):
            pass
    with pytest.raises(ConfigError, match=r"s3://BUCKET/PREFIX\?endpoint=ADDRESS&region=REGION"):
        async with opened("s3://warehouse/pinway?zone=1"):
            pass


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("", "can't write a dump to nowhere: name a folder, or s3://BUCKET/PREFIX"),
        ("s3://user:word@warehouse", "s3://user:***@warehouse: it must be s3://BUCKET/PREFIX?"),
        ("s3://ware%20house", "it must be s3://BUCKET/PREFIX?"),
        ("s3://warehouse?endpoint=nonsense", "its endpoint must be https://HOST or http://HOST"),
        ("s3://warehouse?endpoint=ftp://x", "its endpoint must be https://HOST or http://HOST"),
        ("s3://warehouse?endpoint=https://", "its endpoint must be https://HOST or http://HOST"),
    ],
)
async def test_a_place_that_can_be_none_is_told(to: str, message: str) -> None:
    with pytest.raises(ConfigError) as told:
        async with opened(to):
            pass
    assert message in str(told.value)


async def test_missing_credentials_are_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "word")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(ConfigError, match="MissingAccessKeyId") as told:
        async with opened("s3://warehouse?endpoint=http://127.0.0.1:9"):
            pass
    assert "\n" not in str(told.value)


async def test_a_table_that_is_larger_than_the_memory_for_it_has_several_files_a_period(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "PAGE", 7)
    monkeypatch.setattr(dumps, "HELD", 1_000)
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    await shards.create()
    await fill(shards, 0)
    manifest = await dumped(shards, tmp_path / "dump", by="year")
    [part] = [part for part in manifest.parts if part.table == "pins"]
    assert len(part.files) > 3
    assert max(file.rows for file in part.files) < 20
    assert sums_of_dump(tmp_path / "dump") == await sums_of_shards(shards)
    await shards.close()


async def test_files_of_an_unfinished_table_are_removed(tmp_path: Path) -> None:
    shards = SqliteShards(sqlite_topology(tmp_path / "shards", 1), "OFF")
    await shards.create()
    await fill(shards, 0)
    to = tmp_path / "dump"
    async with opened(str(to)) as place:
        await begin(place, str(to), "day", source="test", replace=False)
        for name in ("000000.parquet", "000001.parquet.part"):  # of a row that is no longer there
            await place.put(f"pins/shard=0/day=2020-01-01/{name}", b"PAR1")
    manifest = await dumped(shards, to)
    async with opened(str(to)) as place:
        assert set(await place.names("")) == {NAME, *(file.name for file in manifest.files)}
    assert sums_of_dump(to) == await sums_of_shards(shards)
    await shards.close()


async def test_an_unfinished_dump_of_other_shards_is_not_continued(tmp_path: Path) -> None:
    async with opened(str(tmp_path)) as place:
        await begin(place, "there", "day", source="file:///one", replace=False)
        with pytest.raises(ConfigError, match="unfinished dump of file:///one, not of file:///two"):
            await begin(place, "there", "day", source="file:///two", replace=False)

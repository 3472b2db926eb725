"""The picture store's contract, over a folder and over a real S3 service."""

import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import urlsplit

import pytest

from datasources.backends import bucket_pictures, folder_pictures
from datasources.errors import StoreUnavailable
from datasources.obstore import PART_READ, PART_WRITTEN
from datasources.protocols import PictureStore
from datasources.urls import BadUrl
from tests.pinway_process import free_port
from tests.s3 import PASSWORD, USER, s3_service

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_service(tmp_path_factory.mktemp("s3"), "pictures") as address:
        yield f"s3://pictures/of/pinway?endpoint={address}"


@pytest.fixture(params=["folder", "bucket"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> PictureStore:
    if request.param == "folder":
        return folder_pictures(urlsplit(f"folder://{tmp_path}/pictures"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    return bucket_pictures(urlsplit(request.getfixturevalue("bucket")))


async def test_a_picture_is_read_as_it_was_written(store: PictureStore) -> None:
    assert await store.get("1/2/236.webp") is None
    await store.put("1/2/236.webp", b"small")
    await store.put("1/2/236.webp", bytes(range(256)) * 4000)
    assert await store.get("1/2/236.webp") == bytes(range(256)) * 4000
    assert await store.get("1/2") is None
    await store.delete(["1/2/236.webp"])


async def test_a_file_is_created_once(store: PictureStore) -> None:
    assert await store.create("4/uploads/a", b"one")
    assert not await store.create("4/uploads/a", b"two")
    assert await store.get("4/uploads/a") == b"one"
    await store.delete(["4/uploads/a"])
    assert await store.create("4/uploads/a", b"three")


async def test_the_files_of_a_folder_are_listed_and_removed(store: PictureStore) -> None:
    names = [f"7/{number}/{width}.webp" for number in range(3) for width in (236, 474)]
    for name in (*names, "70/1/236.webp"):
        await store.put(name, b"x")
    assert sorted(await store.names("7")) == sorted(names)
    assert await store.names("8") == []
    await store.delete([*names, "7/9/236.webp"])
    assert await store.names("7") == []
    assert await store.get("70/1/236.webp") == b"x"


@pytest.mark.parametrize("size", [0, 1, PART_READ, 2 * PART_WRITTEN + 7])
async def test_a_file_is_written_from_an_open_file_and_read_in_parts(
    store: PictureStore, size: int
) -> None:
    content = random.Random(size).randbytes(size)
    with TemporaryFile() as file:
        for _ in range(2):  # it is replaced
            file.seek(0)
            file.write(content)
            file.seek(0)
            await store.put_file("9/exports/1.zip", file)
    opened = await store.open("9/exports/1.zip")
    assert opened is not None
    parts = [part async for part in opened.parts]
    assert (opened.size, b"".join(parts)) == (size, content)
    assert all(len(part) <= PART_READ for part in parts)
    await store.delete(["9/exports/1.zip"])
    assert await store.open("9/exports/1.zip") is None


async def test_a_file_that_is_replaced_while_it_is_read_is_not_mixed(store: PictureStore) -> None:
    await store.put("10/a", b"a" * (PART_READ + 1))
    opened = await store.open("10/a")
    assert opened is not None
    assert await anext(opened.parts) == b"a" * PART_READ
    await store.put("10/a", b"b" * (PART_READ + 2))
    with pytest.raises(StoreUnavailable):
        await anext(opened.parts)


async def test_a_service_that_is_away_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    url = f"s3://pictures?endpoint=http://127.0.0.1:{free_port()}"
    store = bucket_pictures(urlsplit(url))
    with pytest.raises(StoreUnavailable, match="pictures in s3://pictures"):
        await store.get("1/2/236.webp")


async def test_a_wrong_password_is_unavailable(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", USER)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StoreUnavailable):
        await bucket_pictures(urlsplit(bucket)).put("1/2/236.webp", b"x")


@pytest.mark.parametrize("url", ["s3:///path", "s3://bucket?endpont=http://x", "folder://x"])
def test_a_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(BadUrl):
        (folder_pictures if url.startswith("folder") else bucket_pictures)(urlsplit(url))

"""Damage and other versions of the embedded search index."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from datasources.errors import StoreCorrupt, StoreUnavailable
from datasources.protocols import IndexState, IndexTimes, SearchRequest, SearchStore
from datasources.tantivy import TantivySearch
from datasources.tantivy.fields import VERSION
from tests.contract.test_search_store import build, found, titles

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "search"


@pytest.fixture
async def reopened(folder: Path) -> AsyncIterator[Callable[[], SearchStore]]:
    """Opens the store as another process does."""
    opened: list[SearchStore] = []

    def open_store() -> SearchStore:
        opened.append(TantivySearch(str(folder)))
        return opened[-1]

    yield open_store
    for store in opened:
        await store.close()


@pytest.fixture
def store(reopened: Callable[[], SearchStore]) -> SearchStore:
    return reopened()


def subfolders(folder: Path) -> list[Path]:
    return list(folder.glob("index-*"))


def terms_of(index: Path) -> list[Path]:
    return list(index.glob("*.term"))


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "pointer", "meta"])
async def test_a_damaged_index_is_told_and_can_be_built_again(
    store: SearchStore, reopened: Callable[[], SearchStore], folder: Path, damage: str
) -> None:
    await build(store, *titles("oak", "elm"))
    (index,) = subfolders(folder)
    (terms,) = terms_of(index)
    match damage:
        case "cut":
            terms.write_bytes(terms.read_bytes()[:-20])
        case "changed":
            raw = terms.read_bytes()
            terms.write_bytes(raw[:10] + bytes([raw[10] ^ 255]) + raw[11:])
        case "missing":
            terms.unlink()
        case "pointer":
            (folder / "current").write_bytes(b"{")
        case "meta":
            (index / "meta.json").write_bytes(b"nonsense")
    there = reopened()
    assert (await there.status()).state is IndexState.DAMAGED
    if damage != "changed":
        with pytest.raises((StoreCorrupt, StoreUnavailable)):
            await there.search(SearchRequest("oak", 10))
    await build(there, *titles("oak"))
    assert await found(there, "oak") == [1]
    assert await found(store, "oak") == [1]
    assert (await there.status()).state is IndexState.OK


async def test_what_one_process_can_not_read_is_damaged_for_all(
    store: SearchStore, reopened: Callable[[], SearchStore], folder: Path
) -> None:
    await build(store, *titles("oak"))
    (index,) = subfolders(folder)
    good = (index / "meta.json").read_bytes()
    (index / "meta.json").write_bytes(b"nonsense")
    with pytest.raises(StoreCorrupt):
        await store.search(SearchRequest("oak", 10))
    (index / "meta.json").write_bytes(good)
    there = reopened()
    assert await there.times() is None
    assert (await there.status()).state is IndexState.DAMAGED
    await build(there, *titles("oak"), built=4)
    assert await there.times() == IndexTimes(built=4, read_to=4)


async def test_an_index_of_another_version_is_not_read(store: SearchStore, folder: Path) -> None:
    await build(store, *titles("oak"))
    pointer = folder / "current"
    pointer.write_text(pointer.read_text().replace(f'"version":{VERSION}', '"version":99'))
    assert (await store.status()).state is IndexState.OLD
    assert await store.times() is None
    with pytest.raises(StoreUnavailable, match="another version"):
        await store.search(SearchRequest("oak", 10))

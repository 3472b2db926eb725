"""An import is found by searches: it tells the search index of each host to be built again."""

from pathlib import Path

import pytest

from datasources.protocols import SearchRequest, Stores
from datasources.tantivy import TantivySearch
from feed_engine.search.upkeep import Upkeep
from tests.importing.files import board, pin, user
from tests.importing.test_loading import take

pytestmark = pytest.mark.anyio


async def test_what_was_imported_is_found(stores: Stores, tmp_path: Path) -> None:
    index = TantivySearch(str(tmp_path / "search"))
    async with index.alone():
        upkeep = Upkeep(stores, index)
        await upkeep.catch_up()
        before = await index.times()
        await take(stores, user("ann"), board("b", "ann"), pin("p", "b", title="Sandpiper"))
        await upkeep.catch_up()
        after = await index.times()
    assert before is not None
    assert after is not None
    assert after.built >= before.built
    assert len(await index.search(SearchRequest("sandpiper", 10))) == 1
    await index.close()

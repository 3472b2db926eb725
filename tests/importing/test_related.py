"""Related pins after an import."""

import io
import json
from pathlib import Path

import pytest

from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from feed_engine.feeds.rows import POOLS, Source, parse_pool, parse_why, pool_row
from feed_engine.feeds.wide import read_row
from feed_engine.related.walks import Walks
from gateway.operate.imports.entries import json_lines
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions, Progress
from tests.importing.files import board, like, pin, user

pytestmark = pytest.mark.anyio


async def test_users_with_imported_likes_and_saves_get_related_pins(
    stores: Stores, tmp_path: Path
) -> None:
    names = ("one", "two", "three")
    lines = [user(name) for name in names]
    lines += [board(f"b-{name}", name) for name in names[:2]]
    lines += [pin(f"p{number}", "b-one") for number in range(4)]
    lines += [pin(f"r{number}", "b-two", source=f"p{number}") for number in range(4)]
    lines.append(like("three", "p0"))
    walks, told = Walks(stores, tmp_path / "graph", every=0.0), list[Progress]()
    try:
        report = await import_entries(
            stores,
            json_lines(io.BytesIO(b"\n".join(json.dumps(line).encode() for line in lines))),
            options=ImportOptions(strict=True),
            progress=told.append,
            walks=walks,
        )
    finally:
        await walks.close()
    assert report.new["pin"] == 8
    assert told[-1] == Progress("walks", 3, None, "users")
    found = await stores.shards.mod.find("username", ["user_three"])
    viewer = found["user_three"]
    likes = PageRequest(ListKey(Mapping.USER_LIKES_PINS, viewer), 5)
    [[liked]] = await stores.shards.mappings.pages([likes])
    for side in stores.pools:
        cells = await read_row(side, POOLS, pool_row(viewer, Source.RELATED))
        assert len({parse_pool(cell.column).pin_id for cell in cells}) == 3
        assert {parse_why(cell.value).cause_id for cell in cells} == {liked.to_id}

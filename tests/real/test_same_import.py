"""An import into the real stores exports the same as an import into the embedded ones."""

import io
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.stack import Stack
from gateway.operate.imports.export import export_file
from gateway.operate.imports.report import ImportOptions
from tests.gateways import Gateway
from tests.importing.files import import_file
from tests.importing.worlds import bookmarks, canonical_set, large
from tests.real.configurations import both

pytestmark = [pytest.mark.anyio, pytest.mark.nightly]
LINKS, PINS = 10_000, 2_000
"""More links than a batch of an import holds (5,000)."""


@pytest.fixture
async def gateways(stack: Stack, tmp_path: Path) -> AsyncIterator[tuple[Gateway, Gateway]]:
    async with both(stack, tmp_path) as gateways:
        yield gateways


async def test_a_world_and_bookmarks_imported_twice_come_out_the_same(
    gateways: tuple[Gateway, Gateway], tmp_path: Path
) -> None:
    world, marks = tmp_path / "world.jsonl", tmp_path / "bookmarks.html"
    # Names and slugs are unique across all shards, so each run needs its own on servers that are
    # kept.
    run = secrets.token_hex(3)
    lines = b"\n".join(large(PINS)).replace(b'"user_', f'"{run}_'.encode())
    world.write_bytes(lines.replace(b'"interest-', f'"{run}-'.encode()))
    reader = ImportOptions(owner=f"{run}_reader", feeds=False)
    marks.write_bytes(b"".join(bookmarks(LINKS)))
    exports = []
    for gateway in gateways:
        first = await import_file(gateway.stores, world)
        assert (first.bad, first.loaded["pin"]) == ([], PINS)
        exported = await export(gateway)
        assert exported == canonical_set(world.read_bytes())
        for _ in range(2):
            second = await import_file(gateway.stores, marks, options=reader)
            assert (second.bad, second.loaded["pin"]) == ([], LINKS)
        exports.append(await export(gateway))
    assert exports[0] == exports[1]
    assert sum(b'"type":"pin"' in line for line in exports[0]) == PINS + LINKS


async def export(gateway: Gateway) -> set[bytes]:
    out = io.BytesIO()
    await export_file(gateway.stores, out)
    return canonical_set(out.getvalue())

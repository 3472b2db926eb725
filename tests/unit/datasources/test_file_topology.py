"""The topology's file: replaced as a whole, also while it is read."""

import asyncio
import json
import os
from pathlib import Path

import msgspec
import pytest

from datasources.errors import StoreUnavailable
from datasources.file import FileTopology
from datasources.topology import ModShards, ShardRange, Topology

pytestmark = pytest.mark.anyio
SERVERS = {f"server-{n}": f"sqlite:///{n}" for n in range(500)}
TOPOLOGY = Topology(
    epoch=1,
    servers=SERVERS,
    shards=tuple(ShardRange((n, n), name) for n, name in enumerate(SERVERS)),
    mod=ModShards(1, (ShardRange((0, 0), "server-0"),)),
)


async def test_a_reader_never_sees_half_of_it(tmp_path: Path) -> None:
    source = FileTopology(tmp_path / "topology.json")
    await source.save(TOPOLOGY, expected_epoch=None)

    async def write() -> None:
        for epoch in range(1, 40):
            later = msgspec.structs.replace(TOPOLOGY, epoch=epoch + 1)
            await source.save(later, expected_epoch=epoch)

    writing, epochs = asyncio.create_task(write()), []
    while not writing.done():
        epochs.append((await source.load()).epoch)
        await asyncio.sleep(0)
    await writing
    assert epochs == sorted(epochs)
    assert (await source.load()).epoch == 40


async def test_it_is_readable_json_without_leftovers_beside_it(tmp_path: Path) -> None:
    source = FileTopology(tmp_path / "topology.json")
    await source.save(TOPOLOGY, expected_epoch=None)
    await source.save(msgspec.structs.replace(TOPOLOGY, epoch=2), expected_epoch=1)
    text = (tmp_path / "topology.json").read_text()
    assert text.count("\n") > 500
    assert json.loads(text)["epoch"] == 2
    assert sorted(os.listdir(tmp_path)) == ["topology.json", "topology.json.lock"]


async def test_a_place_that_is_no_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        await FileTopology(tmp_path).load()
    (tmp_path / "file").write_text("")
    below = FileTopology(tmp_path / "file" / "topology.json")
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        await below.save(TOPOLOGY, expected_epoch=None)

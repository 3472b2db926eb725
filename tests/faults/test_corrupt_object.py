"""An object that can't be read: lists with it show their other objects."""

from pathlib import Path

import pytest

from datasources.ids import shard_of
from datasources.protocols import ShardTx
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio


async def test_a_list_of_all_boards_goes_on_behind_one_that_cannot_be_read(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path / "data") as gateway:
        await gateway.sign_up("ann")
        boards = [await gateway.board("ann", name) for name in ("one", "two", "three")]
        broken = int(boards[1])

        async def spoil(tx: ShardTx) -> None:
            await tx.update(broken, b'{"name": 5}')

        await gateway.stores.shards.objects.transact(shard_of(broken), spoil)
        await gateway.stores.object_cache.drop([broken])
        data = await gateway.data("{ boards { edges { node { id } } } }")
        assert [edge["node"]["id"] for edge in data["boards"]["edges"]] == [boards[0], boards[2]]
        response = await gateway.ask("{ viewer { boards { edges { node { id } } } } }", "ann")
        nodes = [edge["node"] for edge in response["data"]["viewer"]["boards"]["edges"]]
        assert nodes == [{"id": boards[2]}, None, {"id": boards[0]}]
        assert [error["extensions"]["code"] for error in response["errors"]] == ["INTERNAL"]


async def test_a_pin_whose_board_cannot_be_read_is_blank_in_the_list_of_all_pins(
    tmp_path: Path,
) -> None:
    async with embedded_gateway(tmp_path / "data") as gateway:
        await gateway.sign_up("ann")
        boards = [await gateway.board("ann", name) for name in ("one", "two", "three")]
        pins = [await gateway.pin("ann", board, "pin") for board in boards]
        broken = int(boards[1])

        async def spoil(tx: ShardTx) -> None:
            await tx.update(broken, b'{"name": 5}')

        await gateway.stores.shards.objects.transact(shard_of(broken), spoil)
        await gateway.stores.object_cache.drop([broken])
        response = await gateway.ask("{ pins { edges { node { id } } } }")
        nodes = [edge["node"] for edge in response["data"]["pins"]["edges"]]
        assert nodes == [{"id": pins[0]}, None, {"id": pins[2]}]
        assert [error["extensions"]["code"] for error in response["errors"]] == ["INTERNAL"]

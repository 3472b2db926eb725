"""Runs inside the copy of the sources to which docs/how-to/grow.md was applied: writes the schema's
snapshot, and prints what a test can't see over HTTP, as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from runpy import run_module
from typing import Any, get_args

import msgspec

from datasources.ids import Kind
from datasources.mysql.schema import script
from datasources.records import RECORDS, OnBoard
from datasources.sql.engine import Place
from feed_engine.outbox.change import AccountErased
from feed_engine.writes.account_erasure import account_erased
from tests.gateways import embedded_gateway


async def _left_of_an_account(folder: Path) -> dict[str, int]:
    """The objects of each kind in the stores after an account with a recipe was removed."""

    async def advance(_: bytes) -> None:
        return

    async with embedded_gateway(folder) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "Soups")
        await gateway.mutate("ann", "createRecipe", "recipe { id }", boardId=board, title="Leek")
        [(_, raw)] = await gateway.stores.shards.objects.list(Kind.RECIPE, 0, 10)
        assert b"Leek" in raw
        await gateway.mutate("ann", "deleteAccount", "deletedUserId", username="ann")
        task = AccountErased(user_id=gateway.people["ann"], at=1)
        await account_erased(gateway.stores, task, None, advance)
        return {
            kind.name: len(await gateway.stores.shards.objects.list(kind, 0, 10)) for kind in Kind
        }


def _typed() -> bool:
    """Whether the type of objects on boards names each record with a board."""
    bound: Any = OnBoard.__bound__
    named = set(get_args(bound) or (bound,))
    return named == {
        record
        for record in RECORDS.values()
        if "board_id" in {field.name for field in msgspec.structs.fields(record)}
    }


if __name__ == "__main__":
    run_module("schema.snapshot", run_name="__main__")
    found = {
        "mysql": script(Place("One", "db00001"), 1),
        "left": asyncio.run(_left_of_an_account(Path(sys.argv[1]))),
        "typed": _typed(),
    }
    print(json.dumps(found))

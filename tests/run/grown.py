"""Runs inside the copy of the sources to which docs/how-to/grow.md was applied: writes the schema's
snapshot, checks that each layer knows the new kind, and prints what a test can't see over HTTP, as
JSON."""

import asyncio
import json
import sys
from pathlib import Path
from runpy import run_module

from datasources.ids import Kind
from datasources.mappings import EdgeKey, Mapping
from datasources.mysql.schema import script
from datasources.sql.engine import Place
from feed_engine.outbox.change import AccountErased
from feed_engine.writes.account_erasure import account_erased
from tests.gateways import embedded_gateway
from tests.unit import test_kinds


async def _left_of_an_account(folder: Path) -> dict[str, int]:
    """Counts the objects of each kind, and the rows of a mark, after the removal of an account with
    a recipe that had marked a pin of another user."""

    async def advance(_: bytes) -> None:
        return

    async with embedded_gateway(folder) as gateway:
        await gateway.sign_up("ann", "bob")
        pin = await gateway.pin("bob", await gateway.board("bob", "Bread"), "Rye")
        board = await gateway.board("ann", "Soups")
        await gateway.mutate("ann", "createRecipe", "recipe { id }", boardId=board, title="Leek")
        await gateway.mutate("ann", "markPinTried", "pin { id }", pinId=pin)
        mark = [EdgeKey(Mapping.PIN_TRIED_BY_USERS, int(pin), gateway.people["ann"])]
        shards = gateway.stores.shards
        assert len(await shards.objects.list(Kind.RECIPE, 0, 10)) == 1
        assert len(await shards.mappings.edges(mark)) == 1
        await gateway.mutate("ann", "deleteAccount", "deletedUserId", username="ann")
        task = AccountErased(user_id=gateway.people["ann"], at=1)
        await account_erased(gateway.stores, task, None, advance)
        left = {kind.name: len(await shards.objects.list(kind, 0, 10)) for kind in Kind}
        return {**left, "marks": len(await shards.mappings.edges(mark))}


if __name__ == "__main__":
    run_module("schema.snapshot", run_name="__main__")
    for name, test in vars(test_kinds).items():
        if name.startswith("test_"):
            test()
    found = {
        "mysql": script(Place("One", "db00001"), 1),
        "left": asyncio.run(_left_of_an_account(Path(sys.argv[1]))),
    }
    print(json.dumps(found))

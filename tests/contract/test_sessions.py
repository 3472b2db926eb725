"""Sign-outs over SQLite and MySQL, beside blocks and until the account is erased."""

from pathlib import Path

import pytest

from datasources.errors import Unauthenticated
from datasources.mappings import ListKey, Mapping
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks
from feed_engine.writes import sessions
from tests.contract.shards import Deployment
from tests.contract.test_accounts import new_user
from tests.embedded_stores import drain, embedded_config, embedded_stores, valkey

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio
AT = 1_800_000_000_000


@pytest.mark.parametrize("other", [8, 9])
async def test_a_sign_out_is_read_with_the_blocks_and_erased_with_the_account(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path, other: int
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        ann = await new_user(stores, deployment.shard(8), f"annout{other}")
        bob = await new_user(stores, deployment.shard(other), f"bobout{other}")
        await writes.block_user(stores, ann.id, bob.id)
        for at in (AT, AT - 1):
            await writes.sign_out_everywhere(stores, ann.id, at=at)
            assert await blocks.read(stores, ann.id) == Blocks(frozenset({bob.id}), True, AT)
        assert await blocks.read(stores, bob.id) == Blocks(frozenset({ann.id}))
        with pytest.raises(Unauthenticated):
            await sessions.renew(stores, ann.id, AT / 1000, lambda: "new")
        assert await sessions.renew(stores, ann.id, AT / 1000 + 1, lambda: "new") == "new"
        await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
        await drain(stores)  # also the work of 30 days later
        out = ListKey(Mapping.USER_SIGNED_OUT, ann.id)
        assert (await shards.mappings.heads([out]))[out].version == 0
        assert (await blocks.read(stores, ann.id)).closes(ann.id)

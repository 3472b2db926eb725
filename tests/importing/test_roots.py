"""The first pin of each chain of repins in imports, exports and migrations."""

import json

import pytest

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Pin, decode
from feed_engine import writes
from gateway.operate.imports.jsonl import PinLine
from gateway.operate.migration.expected import Ref, changes, expected
from gateway.operate.migration.stored_keys import StoredKeys
from tests.embedded_stores import drain
from tests.importing.conftest import Fresh
from tests.importing.files import board, give, hide, pin, take, user

pytestmark = pytest.mark.anyio

WORLD = [user("ann"), board("a", "ann"), board("b", "ann")]
CHAIN = [
    pin("third", "a", source="second"),
    pin("fourth", "b", source="third"),
    pin("first", "a"),
    pin("second", "b", source="first"),
]


async def roots(stores: Stores) -> dict[str, str]:
    """The title or key of each pin → the title or key of its root."""
    stored = await stores.shards.objects.list(Kind.PIN, 0, 100)
    pins = {id: decode(Kind.PIN, id, data) for id, data in stored}
    names = {id: pin.title or str(pin.key) for id, pin in pins.items() if isinstance(pin, Pin)}
    return {names[id]: names[pin.root] for id, pin in pins.items() if isinstance(pin, Pin)}


async def test_an_imported_chain_of_repins_has_one_root(stores: Stores) -> None:
    report = await take(stores, *WORLD, *CHAIN, hide("ann", "fourth"))
    assert report.bad == []
    found = await roots(stores)
    assert len(found) == 4
    assert set(found.values()) == {found["first"]}
    viewer = (await stores.shards.mod.find("username", ["user_ann"]))["user_ann"]
    page = PageRequest(ListKey(Mapping.USER_HIDES_PINS, viewer), 5)
    [hidden] = await stores.shards.mappings.pages([page])
    stored = await stores.shards.objects.get([hidden[0].to_id])
    [first] = [decode(Kind.PIN, id, data) for id, data in stored.items()]
    assert (first.key, len(hidden)) == ("first", 1)


async def test_a_later_import_continues_a_chain(stores: Stores) -> None:
    assert (await take(stores, *WORLD, *CHAIN)).bad == []
    more = pin("fifth", "a", source="fourth")
    report = await take(stores, *WORLD, *CHAIN, more)
    assert (report.bad, report.new["pin"]) == ([], 1)
    found = await roots(stores)
    assert found["fifth"] == found["first"]


async def test_repins_of_the_gateway_keep_their_root_in_an_import_elsewhere(fresh: Fresh) -> None:
    async with fresh() as stores:
        assert (await take(stores, *WORLD, *CHAIN[2:])).bad == []
        [(viewer, _)] = await stores.shards.objects.list(Kind.USER, 0, 5)
        boards = await stores.shards.objects.list(Kind.BOARD, 0, 5)
        pins = await stores.shards.objects.list(Kind.PIN, 0, 5)
        [second] = [id for id, data in pins if json.loads(data).get("source_id")]
        for _ in range(2):
            written = await writes.repin(stores, viewer, second, boards[0][0])
            second = written.pin.id
        await drain(stores)
        first = await give(stores)
    async with fresh() as stores:
        assert (await take(stores, first)).bad == []
        found = await roots(stores)
        assert len(found) == 4
        assert set(found.values()) == {found["first"]}
        assert await give(stores) == first


def test_a_migrated_repin_has_the_root_of_its_source() -> None:
    board_id, first, second, other = 3, 5, 6, 7
    found = {
        Ref("board", "b"): decode(Kind.BOARD, board_id, b'{"name":"b","owner_id":1}'),
        Ref("pin", "s"): decode(
            Kind.PIN, second, b'{"board_id":3,"owner_id":1,"source_id":%d}' % first
        ),
        Ref("pin", "o"): decode(Kind.PIN, other, b'{"board_id":3,"owner_id":1}'),
    }
    keys = StoredKeys("old", "")
    stored = expected(PinLine(key="t", board="b", source="s"), found, keys).record
    assert isinstance(stored, Pin)
    assert (stored.source_id, stored.root_id) == (second, first)
    wanted = expected(PinLine(key="t", board="b", source="o"), found, keys).record
    assert wanted is not None
    assert changes(stored, wanted) == {"source_id": other, "root_id": None}

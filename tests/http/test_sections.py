"""Sections of boards, as a client with a cache of its own sees them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bench.call_counts import Counts
from datasources.mappings import ListKey, Mapping
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
BOARD = """query($board: ID!) { board(id: $board) {
  pins { edges { node { id section { id name board { id } } } } }
  sections { edges { node { id name pinCount pins { edges { node { id } } } } } } } }"""
PAGE = """query($board: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  board(id: $board) { sections(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { name } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
PINS = """query($id: ID!, $order: PinOrder, $first: Int, $after: String) { node(id: $id) {
  ... on Section { pins(orderBy: $order, first: $first, after: $after) {
    edges { node { title } } pageInfo { endCursor } } } } }"""
MOVED = (
    "pin { id section { id } } pinEdge { cursor node { id } } abovePin { id } belowPin { id } "
    "fromSection { id pinCount } toSection { id pinCount } removedPinId"
)
PLACED = "section { id } sectionEdge { cursor } aboveSection { id } belowSection { id }"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def scene(gateway: Gateway, *names: str, pins: int = 3) -> tuple[str, list[str], list[str]]:
    """A board, its sections in the order of the names, and its pins from the top down."""
    board = await gateway.board("ann", "Kitchen")
    sections = [await gateway.section("ann", board, name) for name in reversed(names)]
    made = [await gateway.pin("ann", board, f"pin {number}") for number in range(pins)]
    return board, sections[::-1], made[::-1]


async def put(gateway: Gateway, pin: str, section: str | None, **anchors: str) -> Any:
    return await gateway.mutate(
        "ann", "movePinToSection", MOVED, pinId=pin, sectionId=section, **anchors
    )


def ids(connection: dict[str, Any]) -> list[str]:
    return [edge["node"]["id"] for edge in connection["edges"]]


async def test_everybody_reads_the_sections_of_a_board_and_the_pins_in_them(
    gateway: Gateway,
) -> None:
    board, [tiles, lamps], [a, b, c] = await scene(gateway, "Tiles", "Lamps")
    await put(gateway, a, tiles)
    await put(gateway, c, tiles)
    for viewer in ("bob", None):
        found = (await gateway.data(BOARD, viewer, board=board))["board"]
        assert [edge["node"]["name"] for edge in found["sections"]["edges"]] == ["Tiles", "Lamps"]
        first, second = (edge["node"] for edge in found["sections"]["edges"])
        assert (ids(first["pins"]), first["pinCount"]) == ([c, a], 2)
        assert (ids(second["pins"]), second["pinCount"]) == ([], 0)
        assert ids(found["pins"]) == [a, b, c]
        shown = {"id": tiles, "name": "Tiles", "board": {"id": board}}
        assert [it["node"]["section"] for it in found["pins"]["edges"]] == [shown, None, shown]
        node = await gateway.data("query($id: ID!) { node(id: $id) { __typename } }", id=lamps)
        assert node["node"]["__typename"] == "Section"


async def test_the_payload_of_a_move_says_what_a_cache_must_change(gateway: Gateway) -> None:
    _, [tiles, lamps], [a, b, c] = await scene(gateway, "Tiles", "Lamps")
    first = await put(gateway, a, tiles)
    assert first["pinEdge"]["node"] == {"id": a}
    assert (first["fromSection"], first["toSection"]) == (None, {"id": tiles, "pinCount": 1})
    assert first["removedPinId"] is None
    second = await put(gateway, b, tiles, beforePinId=a)
    assert (second["abovePin"], second["belowPin"]) == ({"id": a}, None)
    within = await put(gateway, b, tiles, afterPinId=a)
    assert (within["abovePin"], within["belowPin"]) == (None, {"id": a})
    assert within["removedPinId"] is None
    away = await put(gateway, b, lamps)
    assert away["pin"]["section"] == {"id": lamps}
    assert away["fromSection"] == {"id": tiles, "pinCount": 1}
    assert away["toSection"] == {"id": lamps, "pinCount": 1}
    assert away["removedPinId"] == b
    out = await put(gateway, b, None)
    assert (out["pin"]["section"], out["pinEdge"], out["toSection"]) == (None, None, None)
    assert (out["fromSection"], out["removedPinId"]) == ({"id": lamps, "pinCount": 0}, b)
    refused = await gateway.try_to(
        "ann", "movePinToSection", MOVED, pinId=c, sectionId=lamps, afterPinId=a
    )
    [error] = refused["errors"]
    assert (error["code"], error["field"]) == ("BAD_USER_INPUT", "afterPinId")
    assert error["message"] == f"Pin {a} is not in section {lamps}"


async def test_a_repeated_answer_has_no_edge_of_a_section_that_is_gone(gateway: Gateway) -> None:
    board, [tiles, lamps], [a] = await scene(gateway, "Tiles", "Lamps", pins=1)
    await put(gateway, a, lamps)
    inputs = {
        "createPin": {"boardId": board, "title": "new"},
        "repin": {"boardId": board, "pinId": a},
        "movePinToSection": {"pinId": a},
    }
    for again in (False, True):
        for field, input in inputs.items():
            name = "pinEdge" if field == "movePinToSection" else "sectionEdge"
            selection = f"pin {{ section {{ id }} }} edge: {name} {{ cursor }}"
            done = await gateway.mutate(
                "ann", field, selection, **input, sectionId=tiles, idempotencyKey=field
            )
            assert done["pin"]["section"] == (None if again else {"id": tiles}), field
            assert (done["edge"] is None) == again, field
        if not again:
            await gateway.mutate("ann", "deleteSection", "deletedSectionId", sectionId=tiles)


async def test_one_mutation_saves_a_pin_into_a_section(gateway: Gateway) -> None:
    board, [tiles], [a] = await scene(gateway, "Tiles", pins=1)
    await put(gateway, a, tiles)
    selection = (
        "pin { id section { id pinCount } } sectionEdge { cursor node { id } } pinEdge { cursor }"
    )
    made = await gateway.mutate(
        "ann", "createPin", selection, boardId=board, title="new", sectionId=tiles
    )
    saved = await gateway.mutate("ann", "repin", selection, pinId=a, boardId=board, sectionId=tiles)
    assert made["pin"]["section"] == {"id": tiles, "pinCount": 2}
    assert saved["pin"]["section"] == {"id": tiles, "pinCount": 3}
    assert saved["sectionEdge"]["node"] == {"id": saved["pin"]["id"]}
    after = made["sectionEdge"]["cursor"]
    rest = await gateway.data(PINS, id=tiles, after=after)
    assert [edge["node"]["title"] for edge in rest["node"]["pins"]["edges"]] == ["pin 0"]
    plain = await gateway.mutate("ann", "repin", selection, pinId=a, boardId=board)
    assert (plain["pin"]["section"], plain["sectionEdge"]) == (None, None)
    await gateway.mutate("ann", "deleteSection", "deletedSectionId", sectionId=tiles)
    refused = await gateway.try_to(
        "ann", "repin", selection, pinId=a, boardId=board, sectionId=tiles
    )
    [error] = refused["errors"]
    assert (error["code"], error["field"]) == ("BAD_USER_INPUT", "sectionId")
    assert error["message"].startswith(f"There is no section {tiles} on the board: ")
    refused = await gateway.try_to("ann", "createPin", selection, boardId=board, sectionId=board)
    assert [error["field"] for error in refused["errors"]] == ["sectionId"]


async def test_sections_are_dragged_and_a_conflict_says_where_they_stand(
    gateway: Gateway,
) -> None:
    board, [a, b, c], _ = await scene(gateway, "A", "B", "C", pins=0)
    moved = await gateway.mutate("ann", "reorderSection", PLACED, sectionId=c, beforeSectionId=a)
    assert (moved["aboveSection"], moved["belowSection"]) == ({"id": a}, {"id": b})
    found = (await gateway.data(BOARD, board=board))["board"]["sections"]
    assert ids(found) == [a, c, b]
    after = moved["sectionEdge"]["cursor"]
    rest = (await gateway.data(PAGE, board=board, after=after))["board"]["sections"]
    assert [edge["node"]["name"] for edge in rest["edges"]] == ["B"]
    refused = await gateway.try_to(
        "ann", "reorderSection", PLACED, sectionId=c, beforeSectionId=b, afterSectionId=a
    )
    assert [error["code"] for error in refused["errors"]] == ["CONFLICT"]
    assert (refused["aboveSection"], refused["belowSection"]) == ({"id": a}, {"id": b})
    assert (refused["section"], refused["sectionEdge"]) == ({"id": c}, None)


async def test_sections_have_pages_in_both_directions(gateway: Gateway) -> None:
    names = [f"part {number}" for number in range(5)]
    board, _, _ = await scene(gateway, *names, pins=0)
    for sizes in ({"first": 2}, {"last": 2}):
        seen, cursor, turned = list[str](), None, "last" in sizes
        more = True
        while more:
            given: dict[str, Any] = {**sizes, ("before" if turned else "after"): cursor}
            page = (await gateway.data(PAGE, board=board, **given))["board"]["sections"]
            part = [edge["node"]["name"] for edge in page["edges"]]
            seen = [*part, *seen] if turned else [*seen, *part]
            info = page["pageInfo"]
            cursor = info["startCursor" if turned else "endCursor"]
            more = info["hasPreviousPage" if turned else "hasNextPage"]
        assert seen == names


async def test_the_pins_of_a_section_can_be_read_in_other_orders(gateway: Gateway) -> None:
    _, [part], pins = await scene(gateway, "part")
    for pin in pins:  # so the newest is last
        await put(gateway, pin, part)
    await gateway.mutate("bob", "likePin", "pin { id }", pinId=pins[1])
    for order, titles in (
        (None, ["pin 0", "pin 1", "pin 2"]),
        ("MANUAL", ["pin 0", "pin 1", "pin 2"]),
        ("NEWEST", ["pin 2", "pin 1", "pin 0"]),
        ("LIKES", ["pin 1", "pin 0", "pin 2"]),
    ):
        seen, after = list[str](), None
        for _ in pins:
            page = await gateway.data(PINS, id=part, order=order, first=1, after=after)
            found = page["node"]["pins"]
            seen += [edge["node"]["title"] for edge in found["edges"]]
            after = found["pageInfo"]["endCursor"]
        assert seen == titles


async def test_a_deleted_section_is_gone_at_once_and_its_pins_are_not(gateway: Gateway) -> None:
    board, [part, other], [a, b, _] = await scene(gateway, "part", "other")
    for pin in (a, b):
        await put(gateway, pin, part)
    deleted = await gateway.mutate(
        "ann",
        "deleteSection",
        "deletedSectionId board { pinCount sections { edges { node { id } } } }",
        sectionId=part,
    )
    assert deleted["deletedSectionId"] == part
    assert ids(deleted["board"]["sections"]) == [other]
    assert deleted["board"]["pinCount"] == 3
    for settle in (False, True):
        if settle:
            await gateway.settle()
        found = (await gateway.data(BOARD, board=board))["board"]
        assert [edge["node"]["section"] for edge in found["pins"]["edges"]] == [None] * 3
        assert (await gateway.data("query($id: ID!) { node(id: $id) { id } }", id=part))[
            "node"
        ] is None


async def test_a_pin_on_its_way_to_another_board_is_in_no_section_of_another_board(
    gateway: Gateway,
) -> None:
    _, [part], [a, _, _] = await scene(gateway, "part")
    await put(gateway, a, part)
    other = await gateway.board("ann", "Other")
    moved = await gateway.mutate(
        "ann", "movePin", "pin { board { id } section { id } }", pinId=a, boardId=other
    )
    assert moved["pin"] == {"board": {"id": other}, "section": None}
    found = await gateway.data(PINS, id=part)
    assert found["node"]["pins"]["edges"] == []


SECTIONS = """query($board: ID!, $first: Int) { board(id: $board) { sections(first: $first) {
  edges { node { name pinCount pins(first: 5) { edges { node { title section { name } } } } } }
} } }"""


async def test_sections_make_the_same_calls_whatever_their_number(gateway: Gateway) -> None:
    names = [f"part {number}" for number in range(6)]
    board, sections, pins = await scene(gateway, *names, pins=12)
    for number, pin in enumerate(pins):
        await put(gateway, pin, sections[number % len(sections)])
    counts, ids = Counts(), [int(id) for id in (board, *sections, *pins)]
    runtime = gateway.runtime
    gateway.runtime = replace(runtime, stores=counts.of(runtime.stores))
    try:
        calls = []
        for first in (2, 6):
            await runtime.stores.object_cache.drop(ids)
            await runtime.stores.mapping_cache.drop(
                [ListKey(mapping, id) for id in ids for mapping in Mapping if mapping.ordered]
            )
            for _ in ("cold", "warm"):
                counts.clear()
                found = await gateway.data(SECTIONS, board=board, first=first)
                assert len(found["board"]["sections"]["edges"]) == first
                calls.append(dict(counts.calls))
        assert calls[:2] == calls[2:]
        assert sum(calls[1].values()) < sum(calls[0].values())
    finally:
        gateway.runtime = runtime

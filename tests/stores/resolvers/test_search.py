"""Search and suggestions: what they find, how it is paged and marked, and what they refuse."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from datasources.errors import StoreCorrupt, StoreUnavailable
from datasources.protocols import SearchStore
from feed_engine.search.upkeep import Upkeep
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio

SEARCH = """query($text: String!, $types: [SearchType!], $first: Int, $after: String) {
  search(text: $text, types: $types, first: $first, after: $after) {
    edges { cursor node { __typename ... on Pin { title } ... on Board { name }
      ... on User { username } } highlights { field parts { text matched } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
SUGGEST = """query($prefix: String!, $first: Int) { suggest(prefix: $prefix, first: $first) {
  text parts { text matched } node { __typename ... on Pin { id } } } }"""


class World:
    """Ann's and Bob's pins about birds."""

    gateway: Gateway
    index: SearchStore
    birds: str

    async def indexed(self) -> None:
        """Run all jobs, and bring the index up to date."""
        await self.gateway.settle()
        async with self.index.alone():
            await Upkeep(self.gateway.stores, self.index).catch_up()

    async def page(self, text: str, **rest: Any) -> Any:
        return (await self.gateway.data(SEARCH, text=text, **rest))["search"]

    async def names(self, text: str, **rest: Any) -> list[str]:
        return [name(edge["node"]) for edge in (await self.page(text, **rest))["edges"]]

    async def suggestions(self, prefix: str, **rest: Any) -> list[Any]:
        found: list[Any] = (await self.gateway.data(SUGGEST, prefix=prefix, **rest))["suggest"]
        return found


def name(node: dict[str, str]) -> str:
    return node.get("title") or node.get("name") or node["username"]


def marked(parts: list[dict[str, Any]]) -> str:
    return "".join(f"[{it['text']}]" if it["matched"] else it["text"] for it in parts)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "heronfriend")
        world = World()
        assert gateway.runtime.search is not None
        world.gateway, world.index = gateway, gateway.runtime.search
        world.birds = await gateway.board("ann", "Birds of the heron pond")
        await gateway.pin("ann", world.birds, "Grey heron", description="It stands for hours.")
        await gateway.pin("ann", world.birds, "Night herons")
        await gateway.pin("ann", world.birds, "Pond", description="Home of a heron " + "x " * 200)
        for number in range(7):
            await gateway.pin("ann", world.birds, f"Swan number {number}")
        secret = await gateway.board("ann", "Secret heron", secret=True)
        await gateway.pin("ann", secret, "Secret heron")
        await world.indexed()
        yield world


async def test_all_types_are_found_and_types_narrow_a_search(world: World) -> None:
    found = await world.names("heron")
    assert set(found) == {"Grey heron", "Night herons", "Pond", "Birds of the heron pond"}
    assert found.index("Grey heron") < found.index("Pond"), "a title before a description"
    assert await world.names("heron", types=["BOARD"]) == ["Birds of the heron pond"]
    assert await world.names("heronfriend", types=["USER", "BOARD"]) == ["heronfriend"]
    assert await world.names("heron", types=["USER"]) == []
    assert await world.names("heorn") == await world.names("heorn", types=["PIN", "BOARD"])
    assert "Grey heron" in await world.names("heorn"), "a typing error"
    assert await world.names("secret") == [], "not even its owner's"


async def test_words_that_were_found_are_marked(world: World) -> None:
    edges = (await world.page("heron standing"))["edges"]
    (edge,) = edges
    assert [(it["field"], marked(it["parts"])) for it in edge["highlights"]] == [
        ("title", "Grey [heron]"),
        ("description", "It [stands] for hours."),
    ]
    found = {name(it["node"]): it["highlights"] for it in (await world.page("HEORN"))["edges"]}
    assert marked(found["Grey heron"][0]["parts"]) == "Grey [heron]"
    (long,) = [it for it in (await world.page("heron"))["edges"] if name(it["node"]) == "Pond"]
    (highlight,) = long["highlights"]
    assert marked(highlight["parts"]).startswith("Home of a [heron] x x")
    assert marked(highlight["parts"]).endswith("…")


async def test_pages_follow_each_other_to_the_end(world: World) -> None:
    seen, after = [], None
    for _ in range(4):
        page = await world.page("swan", first=2, after=after)
        assert page["pageInfo"]["hasPreviousPage"] is (after is not None)
        seen += [name(edge["node"]) for edge in page["edges"]]
        assert page["pageInfo"]["startCursor"] == page["edges"][0]["cursor"]
        after = page["pageInfo"]["endCursor"]
        assert page["pageInfo"]["hasNextPage"] is (len(seen) < 7)
    assert sorted(seen) == [f"Swan number {n}" for n in range(7)]
    assert seen == await world.names("swan")


async def test_repins_of_a_picture_are_one_entry(world: World) -> None:
    own = await world.gateway.board("heronfriend", "Reeds")
    pin = await world.gateway.pin("ann", world.birds, "Bittern")
    for _ in range(3):
        await world.gateway.mutate("heronfriend", "repin", "pin { id }", pinId=pin, boardId=own)
    await world.indexed()
    assert await world.names("bittern") == ["Bittern"]
    assert not (await world.page("bittern", first=1))["pageInfo"]["hasNextPage"]


async def test_suggestions_complete_the_last_word(world: World) -> None:
    found = await world.suggestions("her")
    assert {it["text"] for it in found} == {
        *("Grey heron", "Night herons", "Birds of the heron pond", "heronfriend")
    }
    texts = {it["text"]: marked(it["parts"]) for it in found}
    assert texts["Night herons"] == "Night [herons]"
    assert texts["heronfriend"] == "[heronfriend]"
    assert [it["text"] for it in await world.suggestions("night her")] == ["Night herons"]
    assert len(await world.suggestions("swan", first=3)) == 3
    assert await world.suggestions("secret h") == []


async def test_suggestions_have_each_text_once(world: World) -> None:
    for _ in range(3):
        await world.gateway.pin("ann", world.birds, "Spoonbill")
    await world.indexed()
    assert [it["text"] for it in await world.suggestions("spoon")] == ["Spoonbill"]


@pytest.mark.parametrize(
    ("given", "argument", "told"),
    [
        ({"text": ""}, "text", "empty"),
        ({"text": " \n\t"}, "text", "empty"),
        ({"text": "!?*"}, "text", "no word"),
        ({"text": "x" * 201}, "text", "201 characters"),
        ({"text": "x" * 121}, "text", "no word"),
        ({"text": "a", "types": []}, "types", "empty"),
        ({"text": "a", "first": 0}, "first", "1 to 100"),
        ({"text": "a", "first": 101}, "first", "1 to 100"),
        ({"text": "a", "after": "nonsense"}, "after", "not a cursor"),
    ],
)
async def test_bad_input_is_refused_with_a_reason(
    world: World, given: dict[str, Any], argument: str, told: str
) -> None:
    (error,) = (await world.gateway.ask(SEARCH, **given))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert told in error["message"]
    assert argument in error["message"]
    if given.keys() == {"text"}:
        (error,) = (await world.gateway.ask(SUGGEST, prefix=given["text"]))["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "prefix" in error["message"]


@pytest.mark.parametrize(
    "text",
    ["\x00heron", "heron\ud800", "‮heron", "heron' OR 1=1", "NOT heron", '"', "a" * 40, "🦢 heron"],
)
async def test_odd_characters_are_harmless(world: World, text: str) -> None:
    response = await world.gateway.ask(SEARCH, text=text)
    for error in response.get("errors", []):
        assert error["extensions"]["code"] == "BAD_USER_INPUT"


async def test_a_cursor_belongs_to_its_text(world: World) -> None:
    after = (await world.page("swan", first=2))["pageInfo"]["endCursor"]
    for given in ({"text": "heron"}, {"text": "swan", "types": ["PIN"]}):
        (error,) = (await world.gateway.ask(SEARCH, after=after, **given))["errors"]
        assert "another text" in error["message"]


class _Broken:
    """An index whose searches fail."""

    def __init__(self, store: SearchStore, error: Exception) -> None:
        self._store, self._error = store, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def search(self, request: object) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "code"),
    [(StoreUnavailable("it is away"), "UNAVAILABLE"), (StoreCorrupt("it is torn"), "INTERNAL")],
)
async def test_an_index_that_fails_leaves_the_rest_of_the_answer(
    world: World, error: Exception, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = world.gateway.runtime
    monkeypatch.setattr(
        world.gateway, "runtime", _with_search(runtime, _Broken(world.index, error))
    )
    query = '{ search(text: "heron") { edges { cursor } } suggest(prefix: "he") { text } '
    response = await world.gateway.ask(query + 'user(username: "ann") { username } }')
    assert response["data"] == {"search": None, "suggest": None, "user": {"username": "ann"}}
    assert {it["extensions"]["code"] for it in response["errors"]} == {code}


async def test_a_gateway_without_an_index_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.gateway, "runtime", _with_search(world.gateway.runtime, None))
    (error,) = (await world.gateway.ask(SEARCH, text="heron"))["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"


def _with_search(runtime: Any, search: Any) -> Any:
    return replace(runtime, search=search)

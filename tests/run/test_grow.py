"""The page docs/how-to/grow.md, followed literally: its blocks make a gateway with a new field, a
new mapping and a new type, which runs on stores that were filled before."""

import asyncio
import difflib
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gateway.cli import main
from gateway.http.auth import Tokens
from gateway.settings import read_settings
from tests.gateways import embedded_gateway
from tests.pinway_process import ROOT, serving
from tests.run.growing import PAGE, Block, apply, blocks, changed, copy_sources, table

SCHEMA = "schema/schema.graphql"
TRIED = """query($id: ID!, $first: Int, $after: String) { pin(id: $id) {
  triedBy(first: $first, after: $after) {
    edges { node { username } } pageInfo { hasNextPage endCursor }
  }
} }"""
BOARD = """query($id: ID!) { board(id: $id) {
  name language recipes { edges { node { id title board { name } } } }
} }"""
NODE = """query($id: ID!) { node(id: $id) {
  __typename id ... on Recipe { title text createdAt board { name } }
} }"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the sources with all blocks of the page applied. Its processes share the bytecode
    that the first of them leaves in it."""
    folder = tmp_path_factory.mktemp("grow")
    copy_sources(folder / "checkout")
    apply(blocks(PAGE.read_text()), folder / "checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield folder / "checkout"


class Client:
    """Sends operations of the viewers to a process."""

    def __init__(self, url: str, tokens: dict[str, str]) -> None:
        self._url, self._tokens = url, tokens

    def ask(self, viewer: str, query: str, **variables: Any) -> Any:
        request = urllib.request.Request(
            f"{self._url}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {
                "content-type": "application/json",
                "authorization": f"Bearer {self._tokens[viewer]}",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def write(self, viewer: str, field: str, type_: str, selection: str, **input: Any) -> Any:
        """The payload of a mutation, with the codes and the fields of its errors."""
        query = (
            f"mutation($input: {type_}!) "
            f"{{ {field}(input: $input) {{ {selection} errors {{ code field }} }} }}"
        )
        return self.ask(viewer, query, input=input)[field]

    def tried(self, pin: str, first: int, after: str | None = None) -> tuple[list[str], Any]:
        """The names on a page of a pin's `triedBy`, and the cursor of the next page, if any."""
        page = self.ask("ann", TRIED, id=pin, first=first, after=after)["pin"]["triedBy"]
        more = page["pageInfo"]["hasNextPage"]
        names = [edge["node"]["username"] for edge in page["edges"]]
        return names, page["pageInfo"]["endCursor"] if more else None

    def recipes(self, viewer: str, board: str) -> list[str]:
        edges = self.ask(viewer, BOARD, id=board)["board"]["recipes"]["edges"]
        return [edge["node"]["title"] for edge in edges]


class Old:
    """The stores as an unchanged gateway has filled them, and the ids and tokens of what is in
    them."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.board = self.pin = ""
        self.tokens: dict[str, str] = {}

    async def fill(self) -> None:
        async with embedded_gateway(self.data) as gateway:
            await gateway.sign_up("ann", "bob", "cat")
            self.board = await gateway.board("ann", "Soups")
            self.pin = await gateway.pin("ann", self.board, "Borscht")
        settings = read_settings(options={"data_dir": self.data})
        issuer = Tokens(settings.secret, settings.auth.token_hours)
        self.tokens = {name: issuer.issue(id) for name, id in gateway.people.items()}


@pytest.fixture
def old(tmp_path: Path) -> Old:
    old = Old(tmp_path / "data")
    asyncio.run(old.fill())
    return old


def test_what_the_page_adds_works_on_stores_of_before(copy: Path, tmp_path: Path, old: Old) -> None:
    with serving(old.data, cwd=copy, verb="serve") as served:
        client = Client(served.url, old.tokens)
        the_field_has_its_default_and_is_written(client, old.board)
        the_mapping_is_a_connection(client, old.pin)
        kept = the_type_is_made_found_listed_and_deleted(client, old.board)
        backup = tmp_path / "backup"
        pinway("backup", str(backup), "--data-dir", str(old.data))
        assert served.stop() == 0
    restored = tmp_path / "restored"
    pinway("restore", str(backup), "--data-dir", str(restored))
    with serving(restored, cwd=copy, verb="serve") as served:
        client = Client(served.url, old.tokens)
        board = client.ask("bob", BOARD, id=old.board)["board"]
        assert board["language"] == "pt-BR"
        assert board["recipes"]["edges"] == [
            {"node": {"id": kept, "title": "Miso", "board": {"name": "Soups"}}}
        ]
        assert client.tried(old.pin, 9) == (["cat", "ann"], None)
        assert served.stop() == 0
    asyncio.run(an_older_gateway_keeps_what_it_does_not_know(restored, old))


def the_field_has_its_default_and_is_written(client: Client, board: str) -> None:
    assert client.ask("bob", BOARD, id=board)["board"]["language"] == "und"
    write = ("updateBoard", "UpdateBoardInput", "board { language }")
    written = client.write("ann", *write, boardId=board, language="pt-BR")
    assert written == {"board": {"language": "pt-BR"}, "errors": []}
    refused = client.write("ann", *write, boardId=board, language="x" * 36)
    assert refused["errors"] == [{"code": "BAD_USER_INPUT", "field": "language"}]
    assert client.ask("bob", BOARD, id=board)["board"]["language"] == "pt-BR"


def the_mapping_is_a_connection(client: Client, pin: str) -> None:
    assert client.tried(pin, 9) == ([], None)
    for viewer in ("ann", "bob", "cat", "ann"):
        marked = client.write(
            *(viewer, "markPinTried", "MarkPinTriedInput"),
            "pin { id } trierEdge { node { username } }",
            pinId=pin,
        )
        assert marked["pin"] == {"id": pin}
        assert marked["trierEdge"] == {"node": {"username": viewer}}
    names, cursor = client.tried(pin, 2)
    assert names == ["cat", "bob"]
    assert client.tried(pin, 2, cursor) == (["ann"], None)
    client.write("bob", "unmarkPinTried", "MarkPinTriedInput", "pin { id }", pinId=pin)
    assert client.tried(pin, 9) == (["cat", "ann"], None)


def the_type_is_made_found_listed_and_deleted(client: Client, board: str) -> str:
    """Make two recipes on the board. Returns the id of the recipe that is left."""
    create = ("createRecipe", "CreateRecipeInput", "recipe { id } recipeEdge { cursor }")
    delete = ("deleteRecipe", "DeleteRecipeInput", "deletedRecipeId board { name }")
    assert client.recipes("bob", board) == []
    ids = []
    for title in ("Leek", "Miso"):
        made = client.write("ann", *create, boardId=board, title=title, text=f"Cook {title}.")
        assert made["recipeEdge"]["cursor"]
        ids.append(made["recipe"]["id"])
    assert client.recipes("bob", board) == ["Miso", "Leek"]
    found = client.ask("bob", NODE, id=ids[0])["node"]
    assert found.pop("createdAt").startswith(time.strftime("%Y-", time.gmtime()))
    assert found == {
        "__typename": "Recipe",
        "id": ids[0],
        "title": "Leek",
        "text": "Cook Leek.",
        "board": {"name": "Soups"},
    }
    refused = client.write("bob", *create, boardId=board, title="Mine")
    assert refused["errors"] == [{"code": "FORBIDDEN", "field": "boardId"}]
    refused = client.write("bob", *delete, recipeId=ids[0])
    assert refused["errors"] == [{"code": "FORBIDDEN", "field": "recipeId"}]
    for secret in (True, False):
        client.write(
            *("ann", "updateBoard", "UpdateBoardInput", "board { secret }"),
            boardId=board,
            secret=secret,
        )
        hidden = client.ask("bob", NODE, id=ids[0])["node"] is None
        assert hidden is secret
        assert client.ask("ann", NODE, id=ids[0])["node"]["title"] == "Leek"
        if secret:
            refused = client.write("bob", *delete, recipeId=ids[0])
            assert refused["errors"] == [{"code": "NOT_FOUND", "field": "recipeId"}]
    deleted = client.write("ann", *delete, recipeId=ids[0])
    assert deleted == {"deletedRecipeId": ids[0], "board": {"name": "Soups"}, "errors": []}
    assert client.ask("ann", NODE, id=ids[0])["node"] is None
    assert client.recipes("bob", board) == ["Miso"]
    return str(ids[1])


async def an_older_gateway_keeps_what_it_does_not_know(data: Path, old: Old) -> None:
    async with embedded_gateway(data) as gateway:
        viewer = await gateway.data('{ user(username: "ann") { id } }')
        gateway.people["ann"] = int(viewer["user"]["id"])
        await gateway.mutate(
            "ann", "updateBoard", "board { id }", boardId=old.board, name="Hot soups"
        )
        found = await gateway.stores.shards.objects.get([int(old.board)])
        assert json.loads(found[int(old.board)])["language"] == "pt-BR"


def test_the_schema_only_grows_and_the_stores_know_the_new_tables(
    copy: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.grown", str(tmp_path / "data")],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    before, after = ((root / SCHEMA).read_text().splitlines() for root in (ROOT, copy))
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    assert {change[0] for change in changes} == {"equal", "insert"}
    found = json.loads(done.stdout)
    for name in ("user_tried_pins", "pin_tried_by_users", "recipes", "board_has_recipes"):
        assert f"CREATE TABLE IF NOT EXISTS db00001.{name} (" in found["mysql"]
    kept = {"PIN": 1, "BOARD": 1, "USER": 2, "COMMENT": 0, "INTEREST": 0, "SECTION": 0}
    assert found["left"] == {**kept, "RECIPE": 0, "marks": 0}


def test_the_page_tells_how_much_each_step_touches() -> None:
    page = PAGE.read_text()
    assert table(blocks(page)) in page


@pytest.mark.parametrize("text", ["a\nb\nb\n", "a\nbb\n", "a\n"])
def test_a_block_that_does_not_fit_in_one_place_is_refused(text: str) -> None:
    block = Block("step", "file.py", False, [" b", "+c"])
    with pytest.raises(ValueError, match="exactly once"):
        changed(text, block)
    assert changed("a\nb\n", block) == "a\nb\nc\n"


def pinway(*arguments: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output

"""`pinway user export`: all that is kept about one user, in one file."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner, Result

from feed_engine import writes
from gateway.cli import main
from tests.gateways import Gateway, embedded_gateway
from tests.older_comments import forget_index


class Site:
    """Embedded stores in which ann did everything that leaves data, and the ids of that."""

    def __init__(self, data: Path) -> None:
        self.data, self.ids = data, dict[str, str]()

    async def fill(self) -> None:
        async with embedded_gateway(self.data) as gateway:
            await gateway.sign_up("ann", "bob", "cat")
            await self._act(gateway)
            await gateway.settle()

    async def _act(self, gateway: Gateway) -> None:
        ids, ann = self.ids, gateway.people["ann"]
        ids |= {name: str(id) for name, id in gateway.people.items()}
        await writes.change_email(gateway.stores, ann, writes.EmailChange(email="ann@x.org"))
        ids["board"] = await gateway.board("ann", "Own", secret=True)
        ids["pin"] = await gateway.pin("ann", ids["board"], "Lamp")
        ids["theirs"] = await gateway.board("bob", "Theirs")
        ids["liked"] = await gateway.pin("bob", ids["theirs"], "Chair")
        ids["section"] = await gateway.section("ann", ids["board"], "Light")
        await gateway.mutate("ann", "likePin", "pin { id }", pinId=ids["liked"])
        made = await gateway.mutate(
            "ann", "createComment", "comment { id }", pinId=ids["liked"], text="Nice"
        )
        ids["comment"] = made["comment"]["id"]
        await gateway.mutate(
            "bob", "createComment", "comment { id }", pinId=ids["liked"], text="Thanks"
        )
        await gateway.mutate("ann", "followUser", "user { id }", userId=ids["bob"])
        await gateway.mutate("bob", "followUser", "user { id }", userId=ids["ann"])
        await gateway.mutate("ann", "hidePin", "pin { id }", pinId=ids["liked"])
        await gateway.mutate("ann", "muteUser", "user { id }", userId=ids["bob"])
        await gateway.mutate("cat", "blockUser", "user { id }", userId=ids["ann"])
        await gateway.settle()
        await gateway.data("{ homeFeed(first: 5) { visitId } }", "ann")

    async def downgrade(self) -> None:
        """Leave the comments as an earlier version did."""
        async with embedded_gateway(self.data) as gateway:
            await forget_index(gateway.stores)

    def export(self, file: Path, *arguments: str) -> Result:
        given = ["user", "export", str(file), *arguments, "--data-dir", str(self.data)]
        return CliRunner().invoke(main, given)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("export") / "data")
    with start_blocking_portal() as portal:
        portal.call(made.fill)
    return made


def lines_of(file: Path) -> dict[str, list[Any]]:
    found = defaultdict[str, list[Any]](list)
    for line in file.read_bytes().splitlines():
        told = json.loads(line)
        found[told.pop("type")].append(told)
    return found


def test_the_file_has_all_that_a_user_did_and_nothing_that_others_keep_to_themselves(
    site: Site, tmp_path: Path
) -> None:
    file, ids = tmp_path / "ann.jsonl", site.ids
    done = site.export(file, "--email", "ann@x.org")
    assert done.exit_code == 0, done.output
    assert file.stat().st_mode & 0o777 == 0o600
    found = lines_of(file)
    assert f"{sum(map(len, found.values()))} lines about user {ids['ann']}" in done.output
    [account] = found["account"]
    assert (account["username"], account["email"]) == ("ann", "ann@x.org")
    [board], [pin], [section] = found["board"], found["pin"], found["section"]
    assert (board["id"], board["secret"]) == (ids["board"], True)
    assert (pin["id"], pin["title"], pin["board"]) == (ids["pin"], "Lamp", ids["board"])
    assert (section["id"], section["name"]) == (ids["section"], "Light")
    [comment] = found["comment"]
    assert (comment["id"], comment["text"]) == (ids["comment"], "Nice")
    for type, id in (
        ("likes_pins", "liked"),
        ("follows_users", "bob"),
        ("followed_by_users", "bob"),
        ("hides_pins", "liked"),
        ("mutes_users", "bob"),
    ):
        assert [row["id"] for row in found[type]] == [ids[id]]
    assert {row["kind"] for row in found["notification"]} == {"FOLLOWED_USER"}
    assert len(found["visit"]) == 1
    assert ids["cat"] not in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, "exactly one of"),
        (["--username", "dan"], 1, "no user with the username 'dan'"),
        (["--username", "ann"], 1, "exists: name a new file"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_leaves_the_file(
    site: Site, tmp_path: Path, arguments: list[str], status: int, told: str
) -> None:
    file = tmp_path / "there"
    file.write_text("kept")
    done = site.export(file, *arguments)
    assert (done.exit_code, file.read_text()) == (status, "kept")
    assert told in done.output


def test_comments_are_indexed_by_their_authors_once(site: Site, tmp_path: Path) -> None:
    with start_blocking_portal() as portal:
        portal.call(site.downgrade)
    command = ["user", "index-comments", "--data-dir", str(site.data), "--json"]
    first, again = (json.loads(CliRunner().invoke(main, command).stdout) for _ in range(2))
    assert first == {"comments": 2, "shards": 16}
    assert again == {"comments": 0, "shards": 0}
    assert site.export(tmp_path / "ann.jsonl", "--username", "ann").exit_code == 0
    [comment] = lines_of(tmp_path / "ann.jsonl")["comment"]
    assert comment["text"] == "Nice"

"""E-mail addresses and subjects of a source's users arrive once, are followed, and come back."""

import json
from pathlib import Path

import pytest

from datasources.protocols import Stores
from datasources.records import User
from feed_engine.transactions import access
from feed_engine.transactions.inputs import EmailChange, NameChange
from feed_engine.transactions.key_kinds import EMAIL, KINDS, USERNAME
from feed_engine.writes.key_tasks import free
from feed_engine.writes.keys import change_email, change_user_name, end_of
from tests.importing.files import user
from tests.migration.old_world import HUGE, ROWS, OldDatabase, many
from tests.migration.pinway_site import write
from tests.migration.processes import (
    check_like_a_copy,
    copied,
    everything,
    exported,
    followed,
    killed_at,
    pinway,
    verified,
)

ISSUER = "https://id.example.org"
COLUMNS = f"""created: joined
      email: mail
      subject: {{column: google, issuer: '{ISSUER}'}}"""


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Path:
    """The mapping of a source whose users have e-mail addresses and subjects, some twice."""
    old.run(
        "USE old",
        *ROWS,
        *many(members=6, albums=2, bookmarks=2),
        "ALTER TABLE members ADD mail VARCHAR(300), ADD google BIGINT",
        "UPDATE members SET mail = 'Ann@EXAMPLE.org', google = 11 WHERE id = 1",
        f"UPDATE members SET mail = 'not an address' WHERE id = {HUGE}",
        "UPDATE members SET mail = 'Ann@example.org', google = 12 WHERE id = 1001",
        "UPDATE members SET mail = '', google = 11 WHERE id = 1002",
        "UPDATE members SET mail = CONCAT(id, '@example.org'), google = id "
        "WHERE id BETWEEN 1003 AND 1006",
    )
    return old.mapping(tmp_path, changed={"created: joined": COLUMNS})


def keys(data: Path) -> dict[str, tuple[str, str]]:
    """User name → the e-mail address and the subject."""
    lines = [json.loads(line) for line in exported(data)]
    return {
        line["username"]: (line.get("email", ""), line.get("subject", ""))
        for line in lines
        if line["type"] == "user"
    }


def test_bad_and_double_keys_are_told_and_users_arrive_without_them(
    world: Path, tmp_path: Path
) -> None:
    told = copied(world, tmp_path / "data")
    found = keys(tmp_path / "data")
    assert found["ann"] == ("Ann@example.org", "11")
    assert (found["bob"], found["user1"], found["user2"]) == (("", ""), ("", "12"), ("", ""))
    reports = {}
    for line in Path(told["report"]).read_text().splitlines():
        fault = json.loads(line)
        if fault["table"] == "members":
            reports.setdefault(fault["row"], []).append((fault["left_out"], fault["message"]))
    assert (False, "email is no e-mail address: left out") in reports[str(HUGE)]
    assert reports["1001"] == [
        (False, "the e-mail address 'Ann@example.org' is taken: the user is there without it")
    ]
    assert reports["1002"] == [
        (
            False,
            f'the subject ["{ISSUER}","11"] is taken: the user is there without it',
        )
    ]


def test_changes_of_keys_are_followed(world: Path, old: OldDatabase, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(
        "USE old",
        "UPDATE members SET mail = NULL, google = NULL WHERE id = 1",  # for 1001 and 1002
        "UPDATE members SET mail = 'new@example.org' WHERE id = 1003",
        "BEGIN",  # two users swap their keys
        "UPDATE members SET mail = '1005@example.org', google = 1005 WHERE id = 1004",
        "UPDATE members SET mail = '1004@example.org', google = 1004 WHERE id = 1005",
        "COMMIT",
        "INSERT INTO members VALUES (2, 'late', '', NULL, NULL, '1006@example.org', 5)",
    )
    followed(world, data)
    found = keys(data)
    assert (found["user1"], found["user2"]) == (("Ann@example.org", "12"), ("", "11"))
    assert (found["user3"][0], found["late"]) == ("new@example.org", ("", "5"))
    assert found["user4"] == ("1005@example.org", "1005")
    assert found["user5"] == ("1004@example.org", "1004")
    old.run("DELETE FROM old.members WHERE id = 1006")
    followed(world, data)
    assert keys(data)["late"] == ("1006@example.org", "5")
    assert verified(world, data)["differences"] == []
    copied(world, tmp_path / "fresh")
    assert everything(data) == everything(tmp_path / "fresh")


def test_keys_of_an_account_whose_follower_was_killed_go_to_the_rows_that_share_them(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, lines = tmp_path / "data", tmp_path / "world.jsonl"
    lines.write_text(json.dumps(user("1", username="taken")))
    pinway("import", str(lines), data=data)
    copied(world, data)
    old.run("DELETE FROM old.members WHERE id = 1")
    words = ("follow", "--until-caught-up")
    killed = "tests.migration.killed_follow"
    assert killed_at("take_away", world, data, *words, module=killed) == 0  # its keys are free
    old.run("INSERT INTO old.members VALUES (1, 'taken', '', NULL, NULL, 'Ann@example.org', 11)")
    followed(world, data)
    found = keys(data)
    assert (found["user1"], found["user2"]) == (("Ann@example.org", "12"), ("", "11"))
    assert verified(world, data)["differences"] == []


def test_a_user_without_a_key_differs_unless_another_user_has_the_key(
    world: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    found = verified(world, data)
    assert (found["differences"], found["without_keys"]) == ([], 2)
    assert "2 users without a key that another user has" in pinway(
        "migrate", "verify", str(world), data=data
    )

    async def give_up(stores: Stores) -> None:
        [id] = (await stores.shards.mod.find(EMAIL.namespace, ["Ann@example.org"])).values()
        await change_email(stores, id, EmailChange(email=None))
        await _free_kept(stores, id)

    write(data, give_up)
    found = verified(world, data, status=3)
    differing = {(one["row"], one["field"]) for one in found["differences"]}
    assert (differing, found["without_keys"]) == ({("1", "email"), ("1001", "email")}, 1)
    found = verified(world, data, "--repair")
    assert (found["differences"], found["without_keys"]) == ([], 2)
    check_like_a_copy(world, data, tmp_path / "fresh")


def test_keys_that_somebody_had_before_the_copy_are_freed_with_their_account(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, lines = tmp_path / "data", tmp_path / "world.jsonl"
    lines.write_text(json.dumps(user("1", username="user3", email="1003@example.org")))
    pinway("import", str(lines), data=data)

    async def give_up(stores: Stores) -> None:
        [id] = (await stores.shards.mod.find(USERNAME.namespace, ["user3"])).values()
        await change_user_name(stores, id, NameChange(username="early"))
        await change_email(stores, id, EmailChange(email=None))
        await _free_kept(stores, id)

    write(data, give_up)
    copied(world, data)
    old.run(
        "USE old",
        "DELETE FROM members WHERE id = 1003",
        "INSERT INTO members VALUES (2, 'user3', '', NULL, NULL, '1003@example.org', NULL)",
    )
    followed(world, data)
    assert keys(data)["user3"] == ("1003@example.org", "")
    assert verified(world, data)["differences"] == []


async def _free_kept(stores: Stores, id: int) -> None:
    """End the time for which keys are kept for a user."""
    [found] = (await access.read(stores, User, [id])).values()
    for kind in KINDS.values():
        for kept in kind.kept_of(found):
            await free(stores, end_of(kind, id, kept))

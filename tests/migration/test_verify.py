"""`pinway migrate verify`: every difference between the source and the shards is listed, and
mended."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from feed_engine.transactions.inputs import NameChange
from feed_engine.transactions.key_kinds import USERNAME
from feed_engine.writes.key_tasks import free
from feed_engine.writes.keys import change_user_name, end_of
from tests.importing.files import user
from tests.migration.old_world import CHANGES, HUGE, ROWS, OldDatabase, many
from tests.migration.pinway_site import pinway_stores
from tests.migration.processes import copied, everything, pinway, verified


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Path:
    """The mapping of a source with rows of all kinds."""
    old.run("USE old", *ROWS, *many(members=12, albums=20, bookmarks=60))
    return old.mapping(tmp_path)


def test_a_copy_has_no_difference(world: Path, tmp_path: Path) -> None:
    told = copied(world, tmp_path / "data")
    found = verified(world, tmp_path / "data")
    assert found["differences"] == []
    assert found["rows"] == told["rows"]
    assert found["left_out"] == told["left_out"]
    stand = sum(one["rows"] for one in found["ranges"])
    assert stand == sum(told["loaded"].values())
    assert all(one["source"] == one["shards"] for one in found["ranges"])
    assert {one["table"] for one in found["ranges"]} == {
        *("members", "albums", "bookmarks", "likes", "remarks", "friends")
    }


def test_a_repair_ends_like_a_copy_of_the_changed_rows(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("USE old", *CHANGES)
    found = verified(world, data, status=3)
    differing = {(one["table"], one["row"], one["field"]) for one in found["differences"]}
    assert {
        ("members", "1", "username"),
        ("members", "1", "full_name"),
        ("members", "1003", ""),
        ("albums", "1", "name"),
        ("albums", "1", "secret"),
        ("albums", "1010", "owner_id"),
        ("bookmarks", "1030", "place"),
        ("bookmarks", "1020", "board_id"),
        ("bookmarks", "1023", ""),
        ("likes", "1, 6", ""),
        ("friends", f"{HUGE}, 1", ""),
        ("remarks", "00ff0102", "text"),
    } <= differing
    assert any(one["source"] != one["shards"] for one in found["ranges"])
    assert verified(world, data, "--repair")["differences"] == []
    assert verified(world, data)["differences"] == []
    copied(world, tmp_path / "fresh")
    assert everything(data) == everything(tmp_path / "fresh")


def test_a_repair_changes_nothing_that_is_right(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copied(world, data)
    before = everything(data)
    verified(world, data, "--repair")
    assert everything(data) == before
    copied(world, data)  # no repair was needed, so a copy may go on


def test_a_difference_made_in_the_shards_is_found(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("USE old", "UPDATE albums SET title = 'Other' WHERE id = 1")
    words = pinway("migrate", "verify", str(world), data=data, status=3)
    assert 'albums 1: board \'1\' name: "Other" in the source, "Tea" in the shards' in words
    assert "1 difference" in words


def test_rows_of_mappings_that_are_lost_are_written_again(world: Path, tmp_path: Path) -> None:
    """A shard that comes from an older backup lacks such rows."""
    data = tmp_path / "data"
    copied(world, data)
    for file in (data / "shards").glob("db*.sqlite"):
        with closing(sqlite3.connect(file)) as shard, shard:
            shard.execute("UPDATE pin_liked_by_users SET active = 0")
            shard.execute("UPDATE user_followed_by_users SET active = 0")
            shard.execute("UPDATE user_has_public_boards SET active = 0")
            for lost in ("user_has_pins", "user_has_boards", "pin_has_comments"):
                shard.execute(f"DELETE FROM {lost}")
    differing = {one["table"] for one in verified(world, data, status=3)["differences"]}
    assert differing == {"albums", "bookmarks", "likes", "friends", "remarks"}
    assert verified(world, data, "--repair")["differences"] == []
    copied(world, tmp_path / "fresh")
    assert everything(data) == everything(tmp_path / "fresh")


def test_a_user_who_was_left_out_for_a_name_that_is_free_now_is_missing(
    world: Path, tmp_path: Path
) -> None:
    data, lines = tmp_path / "data", tmp_path / "world.jsonl"
    lines.write_text(json.dumps(user("1", username="user3")))
    pinway("import", str(lines), data=data)
    copied(world, data)
    assert verified(world, data)["differences"] == []
    asyncio.run(_free_name(data, "user3"))
    [missing] = verified(world, data, status=3)["differences"]
    assert (missing["table"], missing["row"], missing["shards"]) == ("members", "1003", "missing")
    assert verified(world, data, "--repair")["differences"] == []
    copied(world, tmp_path / "fresh")
    assert everything(data) >= everything(tmp_path / "fresh")


def test_there_is_nothing_to_verify_before_a_copy_has_ended(world: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert "run pinway migrate copy" in pinway("migrate", "verify", str(world), data=data, status=1)


async def _free_name(data: Path, name: str) -> None:
    """Let the user who has the name take another one, and end the time for which it is kept."""
    async with pinway_stores(data) as stores:
        id = (await stores.shards.mod.find(USERNAME.namespace, [name]))[name]
        renamed = await change_user_name(stores, id, NameChange(username="renamed"))
        for kept in renamed.kept_names:
            await free(stores, end_of(USERNAME, id, kept))

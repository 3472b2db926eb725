"""The journal of a copy by itself: pages are whole, and one process has it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from datasources.errors import StoreUnavailable
from gateway.operate.imports.jsonl import UserLine
from gateway.operate.migration.conversion import Converted
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.mapping import Mapping, read_mapping

WHOLE = """\
name: old-site
source: mysql://reader@127.0.0.1/old
tables:
  - table: members
    becomes: user
    columns: {key: id, username: login}
"""


@pytest.fixture
def mapping(tmp_path: Path) -> Mapping:
    file = tmp_path / "m.yaml"
    file.write_text(WHOLE)
    return read_mapping(file)


def user(key: str) -> Converted:
    return Converted(UserLine(key=key, username=f"user{key}"), b"{}", [f"about of {key}"])


def test_a_page_that_fails_half_way_leaves_nothing(mapping: Mapping, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", mapping)
    journal.add_page(0, "members", [("1",)], [user("1")])
    broken = user("3")._replace(data=object())  # type: ignore[arg-type]
    with pytest.raises(sqlite3.Error):
        journal.add_page(0, "members", [("2",), ("3",)], [user("2"), broken])
    journal.close()
    again = Journal(tmp_path / "j", mapping)
    assert again.cursor(0) == (["1"], 1)
    assert again.spool.count("users") == 1
    assert again.counts() == {"rows": 1, "left_out": 0, "changes": 1}
    again.close()


def test_a_journal_that_another_process_has_open_is_refused(
    mapping: Mapping, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "j", mapping)
    with pytest.raises(StoreUnavailable, match="does another process use it"):
        Journal(tmp_path / "j", mapping)
    journal.close()
    Journal(tmp_path / "j", mapping).close()


def test_a_report_that_is_made_twice_is_one(mapping: Mapping, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", mapping)
    journal.add_page(0, "members", [("1",)], [user("1")])
    for _ in range(2):
        journal.note(1, "there is no board '9'", kept=False)
    assert journal.counts()["left_out"] == 1
    assert len(journal.write_report().read_text().splitlines()) == 2
    journal.close()


def test_a_new_journal_has_keys_with_the_name_of_the_migration(
    mapping: Mapping, tmp_path: Path
) -> None:
    with closing(Journal(tmp_path / "j", mapping)) as journal:
        journal.add_page(0, "members", [("1",)], [user("1")])
    with closing(Journal(tmp_path / "j", mapping)) as again:
        assert again.keys.of("1") == "old-site:1"
        assert [again.keys.old(key) for key in ("old-site:1", "1", "new:1")] == ["1", "1", "new:1"]


def test_a_journal_that_an_earlier_version_began_keeps_old_ids_as_keys(
    mapping: Mapping, tmp_path: Path
) -> None:
    with closing(Journal(tmp_path / "j", mapping)) as journal:
        journal.forget_fact("keys")
    with closing(Journal(tmp_path / "j", mapping)) as unread:
        assert unread.keys.of("1") == "old-site:1"  # nothing has a key yet
        unread.forget_fact("keys")
        unread.add_page(0, "members", [("1",)], [user("1")])
    with closing(Journal(tmp_path / "j", mapping)) as begun:
        assert begun.keys.of("1") == "1"

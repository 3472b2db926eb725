"""`deploy/stack/files.py` and `secrets.py`."""

import stat
from pathlib import Path

import pytest

from deploy.stack.errors import StackError
from deploy.stack.files import write_if_changed
from deploy.stack.secrets import load_or_make


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_touched_only_when_its_text_differs(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    assert write_if_changed(file, "text")
    inode = file.stat().st_ino
    assert not write_if_changed(file, "text")
    assert file.stat().st_ino == inode
    assert write_if_changed(file, "other")
    assert file.read_text() == "other"
    assert list(file.parent.iterdir()) == [file]


def test_a_secret_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    write_if_changed(file, "text", secret=True)
    assert _mode(file) == 0o600


def test_a_file_that_becomes_secret_is_closed_to_others(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    write_if_changed(file, "text")
    assert _mode(file) == 0o644
    assert write_if_changed(file, "text", secret=True)
    assert _mode(file) == 0o600


def test_passwords_are_made_once_and_kept(tmp_path: Path) -> None:
    made = load_or_make(tmp_path / "secrets.json")
    assert load_or_make(tmp_path / "secrets.json") == made
    assert len({made.mysql_password, made.replica_password, made.auth_secret}) == 3
    assert all(len(word) >= 32 for word in (made.mysql_password, made.auth_secret))
    assert _mode(tmp_path / "secrets.json") == 0o600


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mysql_password": "x"}'])
def test_a_damaged_file_of_passwords_is_an_error_that_says_what_to_do(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "secrets.json").write_text(text)
    with pytest.raises(StackError, match=r"is damaged .* to begin afresh"):
        load_or_make(tmp_path / "secrets.json")

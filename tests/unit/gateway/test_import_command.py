"""`pinway import` as a command: its messages, and its refusals before it creates anything."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main

BOOKMARKS = '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="https://example.com/">x</A></DL>'


def import_(data: Path, file: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["import", str(file), "--data-dir", str(data), *options])


def users(*names: str) -> str:
    return "".join(
        json.dumps({"type": "user", "key": name, "username": name}) + "\n" for name in names
    )


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        (BOOKMARKS, [], "--as USERNAME"),
        (BOOKMARKS, ["--as", "me"], "3 to 30"),
        ("PK\x03\x04\x00\x00", [], "a ZIP archive"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_before_any_store_is_made(
    tmp_path: Path, content: str, options: list[str], told: str
) -> None:
    file, data = tmp_path / "given", tmp_path / "data"
    file.write_text(content)
    done = import_(data, file, *options)
    assert done.exit_code == 1
    assert told in done.output
    assert not data.exists()


def test_bad_lines_are_described_up_to_a_number_and_counted(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    file.write_text(users("ann") + "{\n" * 5)
    done = import_(tmp_path / "data", file, "--errors", "2")
    assert done.exit_code == 0, done.output
    assert done.output.count("truncated") == 2
    assert "... and 3 more: --errors N" in done.output
    assert done.output.endswith("new: 1 user; 5 bad lines\n")
    again = import_(tmp_path / "data", file, "--errors", "0")
    assert again.output.endswith("already there: 1 user; 5 bad lines\n")


def test_a_line_that_is_imported_with_a_change_is_no_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "bookmarks.html"
    file.write_text(
        '<DL>\n<DT><A HREF="https://example.com/1" ADD_DATE="soon">1</A>\n'
        '<DT><A HREF="javascript:1">2</A>\n</DL>'
    )
    done = import_(tmp_path / "data", file, "--as", "ann")
    assert done.exit_code == 0, done.output
    assert done.output.endswith("; 1 line imported with a change; 1 bad line\n")


def test_without_a_terminal_each_stage_is_a_line(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    file.write_text(users("ann", "bob"))
    done = import_(tmp_path / "data", file)
    assert "Shards: 20 shards\n" in done.output
    assert f"reading: {file.stat().st_size} B\n" in done.output
    assert "users: 2 users\n" in done.output


def test_an_import_of_which_nothing_is_good_fails(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    file.write_text('{"type":"user"}\n')
    done = import_(tmp_path / "data", file)
    assert done.exit_code == 1
    assert f"nothing in {file} could be imported" in done.output


def test_bookmarks_of_which_no_pin_is_imported_fail(tmp_path: Path) -> None:
    """The user alone, who is there already, is no success."""
    file, data = tmp_path / "bookmarks.html", tmp_path / "data"
    file.write_text(BOOKMARKS)
    assert import_(data, file, "--as", "ann").exit_code == 0
    done = import_(data, file, "--as", "ann", "--secret")
    assert done.exit_code == 1, done.output
    assert "make it secret here, and import again" in done.output
    assert f"nothing in {file} could be imported" in done.output


def test_a_strict_import_tells_of_its_bad_line_once(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    file.write_text(users("ann") + "{\n")
    done = import_(tmp_path / "data", file, "--strict")
    assert done.exit_code == 1
    assert done.output.count("line 2") == 1


def test_a_data_directory_of_another_user_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, data = tmp_path / "world.jsonl", tmp_path / "data"
    file.write_text(users("ann"))
    # The tests may run as root, to whom every directory is open.
    monkeypatch.setattr("os.access", lambda path, *_: Path(path) != data)
    done = import_(data, file)
    assert done.exit_code == 1
    assert "belongs to another user" in done.output

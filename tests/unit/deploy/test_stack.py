"""`deploy/stack/stack.py` and `cli.py`: what they make of a directory, before any server runs."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.stack import Stack, StackError
from deploy.stack.cli import _new_lines, stack


@pytest.mark.parametrize("command", ["down", "status", "logs"])
def test_a_directory_without_a_stack_is_told_in_one_line(tmp_path: Path, command: str) -> None:
    result = CliRunner().invoke(stack, [command, "--dir", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output == f"Error: no stack in {tmp_path}: start one with `pinway stack up`.\n"


@pytest.mark.parametrize("text", ["", "[]", '{"shards": 64}', '{"shards": "x", "mod_shards": 1}'])
def test_a_damaged_directory_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "stack.json").write_text(text)
    result = CliRunner().invoke(stack, ["status", "--dir", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {tmp_path / 'stack.json'} is damaged (")
    assert len(result.output.splitlines()) == 1


def test_a_port_missing_in_the_directory_is_damage_too(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text('{"shards": 64, "mod_shards": 16, "ports": {}}')
    with pytest.raises(StackError, match="is damaged"):
        Stack(tmp_path)


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(stack, ["up", "--dir", str(tmp_path / "file" / "stack")])
    assert result.exit_code == 1
    assert result.output.startswith("Error: cannot ")
    assert len(result.output.splitlines()) == 1


def test_there_are_no_services_before_the_first_up(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="no stack in"):
        Stack(tmp_path).services  # noqa: B018


def test_down_does_nothing_where_nothing_was_started(tmp_path: Path) -> None:
    Stack(tmp_path / "none").down()
    assert not (tmp_path / "none").exists()


def test_following_a_log_gives_whole_lines_and_notices_a_fresh_file(tmp_path: Path) -> None:
    log, ends = tmp_path / "log", {"a": 0}
    assert list(_new_lines(log, ends, "a")) == []
    log.write_text("one\ntw")
    assert list(_new_lines(log, ends, "a")) == ["one"]
    log.write_text("one\ntwo\n")
    assert list(_new_lines(log, ends, "a")) == ["two"]
    log.write_text("new\n")
    assert list(_new_lines(log, ends, "a")) == ["new"]

"""The place for an export's lines: private, and never through a link."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from datasources import files
from datasources.errors import ConfigError
from gateway.cli.data import _opened


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_export_is_for_its_owner_alone_from_its_first_byte(tmp_path: Path) -> None:
    file = tmp_path / "world.jsonl"
    with _opened(file) as lines:
        lines.write(b"secret\n")
        lines.flush()
        [unfinished] = tmp_path.iterdir()
        assert mode(unfinished) == 0o600
    assert mode(file) == 0o600
    assert file.read_bytes() == b"secret\n"


@pytest.mark.parametrize(("given", "is_told"), [(0o640, True), (0o604, True), (0o600, False)])
def test_a_replaced_export_keeps_its_permissions_and_says_who_may_read_it(
    tmp_path: Path, given: int, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "world.jsonl"
    file.touch()
    file.chmod(given)
    with _opened(file) as lines:
        lines.write(b"secret\n")
    assert mode(file) == given
    told = capsys.readouterr().err
    assert (f"keeps its permissions ({given:03o})" in told) is is_told


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_refused_and_what_it_names_stays(tmp_path: Path, there: bool) -> None:
    other, file = tmp_path / "other", tmp_path / "world.jsonl"
    if there:
        other.write_text("mine")
    file.symlink_to(other)
    with pytest.raises(ConfigError, match=r"world\.jsonl is a symbolic link: name the file itself"):
        _opened(file)
    assert other.exists() is there
    assert not there or other.read_text() == "mine"


def test_a_device_gets_the_lines(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to(os.devnull)
    with _opened(tmp_path / "null") as lines:
        lines.write(b"secret\n")


def test_a_link_or_file_in_the_place_of_the_unfinished_file_is_not_written(tmp_path: Path) -> None:
    other, part, file = (tmp_path / name for name in ("other", "file.part", "file"))
    other.write_text("mine")
    part.symlink_to(other)
    files.write(file, b"new")
    assert (file.read_bytes(), other.read_text()) == (b"new", "mine")
    part.touch(mode=0o666)
    files.write(file, b"newer")
    assert (file.read_bytes(), mode(file)) == (b"newer", 0o600)


def test_a_link_that_comes_between_is_replaced_and_not_followed(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "world.jsonl"
    other.write_text("mine")
    with _opened(file) as lines:
        lines.write(b"secret\n")
        file.symlink_to(other)
    assert other.read_text() == "mine"
    assert not file.is_symlink()


def test_a_pipe_without_a_reader_is_one_clear_line_and_no_hang(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with pytest.raises(ConfigError, match="nobody reads the pipe"):
        _opened(pipe)


def test_a_pipe_with_a_reader_gets_the_lines(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with _opened(pipe) as lines:
        assert os.get_blocking(lines.fileno())
        lines.write(b"line\n")
    assert os.read(reader, 100) == b"line\n"
    os.close(reader)

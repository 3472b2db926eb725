"""`pinway token`, `export` and `import` of missing things: one line, and nothing is created."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import main


@pytest.mark.parametrize("command", [["token", "ann"], ["export", "-"], ["export", "out.jsonl"]])
@pytest.mark.parametrize("there", [False, True])
def test_an_empty_data_directory_is_one_clear_line_and_stays_so(
    tmp_path: Path, command: list[str], there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, working = tmp_path / "data", tmp_path / "working"
    working.mkdir()
    monkeypatch.chdir(working)
    if there:
        data.mkdir()
    done = CliRunner().invoke(main, [*command, "--data-dir", str(data)])
    assert list(working.iterdir()) == []
    assert done.exit_code == 1
    [line] = done.output.splitlines()
    assert line.startswith(f"pinway: there is no content in {data}: fill it with `pinway run`")
    assert data.exists() is there
    assert not there or list(data.iterdir()) == []


def test_a_file_to_import_that_is_not_there_is_one_clear_line_and_nothing_is_made(
    tmp_path: Path,
) -> None:
    file, data = tmp_path / "lost.html", tmp_path / "data"
    done = CliRunner().invoke(main, ["import", str(file), "--data-dir", str(data)])
    assert done.exit_code == 1
    assert done.output == f"pinway: can't import {file}: there is no such file\n"
    assert not data.exists()

"""A data directory of another user, or with files of another user, is one clear line, whatever the
command."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import ConfigError
from gateway.cli import main
from gateway.settings import Auth, Settings
from gateway.site.directory import check_directory

COMMANDS = (
    ("export",),
    ("backup", "copy"),
    ("doctor",),
    ("jobs", "list"),
    ("token", "demo"),
    ("feed", "status"),
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of another user. The tests may run as root, to whom every directory is open."""
    found = tmp_path / "data"
    found.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", lambda path, *_: Path(path) != found)
    return found


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_names_the_directory_and_the_remedy(words: tuple[str, ...], data: Path) -> None:
    done = CliRunner().invoke(main, [*words, "--data-dir", str(data)])
    assert done.exit_code == (3 if words == ("doctor",) else 1)  # 3: the doctor found a fault
    assert f"the data directory {data} belongs to another user" in done.output
    assert f"chown -R $USER {data}" in done.output
    assert "Traceback" not in done.output


def test_a_gateway_names_them_before_it_makes_a_key(data: Path) -> None:
    with pytest.raises(ConfigError, match="belongs to another user"):
        _ = Settings(data_dir=data, auth=Auth(secret="")).secret
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("name", ["shards/001.db", "feeds/primary", "valkey/lock"])
def test_a_file_of_another_user_is_named_with_the_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.touch()
    check_directory(tmp_path)
    monkeypatch.setattr("os.access", lambda asked, *_: Path(asked) != path)
    check_directory(tmp_path)  # read-only, but a file of this user: its store says what is wrong
    monkeypatch.setattr("os.geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(ConfigError) as raised:
        check_directory(tmp_path)
    assert str(raised.value).startswith(f"{path} belongs to another user")
    assert f"`sudo chown -R $USER {tmp_path}`" in str(raised.value)


def test_a_file_that_goes_away_meanwhile_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "valkey").mkdir()
    (tmp_path / "valkey" / "valkey.pid").touch()

    def gone(path: Path, _: int) -> bool:
        if path.name == "valkey.pid":
            path.unlink()
            return False
        return True

    monkeypatch.setattr("os.access", gone)
    check_directory(tmp_path)

"""The flat names of earlier versions, which this version still reads."""

import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import ConfigError
from gateway.cli import main
from gateway.settings import read_settings
from gateway.settings.model import NAMES
from gateway.settings.old_names import OLD_NAMES, REMOVED


@pytest.fixture(autouse=True)
def of_settings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "pinway.settings")


def test_an_old_name_in_a_file_is_read_with_a_line_that_says_the_new_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text('port = 9000\nmysql_user = "me"\ndata_dir = "here"\n')
    settings = read_settings(path)
    assert (settings.http.port, settings.mysql.user) == (9000, "me")
    assert settings.data_dir == Path("here")
    told = "the next version does not read the old name"
    assert caplog.messages == [
        f"{path}, line 1: port is now http.port; {told}",
        f"{path}, line 2: mysql_user is now mysql.user; {told}",
    ]


def test_an_old_variable_is_read_with_a_line_that_says_the_new_variable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PINWAY_RUN_JOBS", "false")
    assert read_settings().jobs.run is False
    assert caplog.messages == [
        "the environment, PINWAY_RUN_JOBS: PINWAY_RUN_JOBS is now PINWAY_JOBS__RUN; "
        "the next version does not read the old name"
    ]


def test_an_old_and_a_new_name_in_one_file_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("port = 1\n[http]\nport = 2\n")
    with pytest.raises(ConfigError) as error:
        read_settings(path)
    assert str(error.value) == (
        f"{path}, line 1: port is the old name of http.port, which {path}, line 3 sets too: "
        "remove port"
    )


def test_an_old_and_a_new_variable_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINWAY_PORT", "1")
    monkeypatch.setenv("PINWAY_HTTP__PORT", "2")
    with pytest.raises(ConfigError, match=r"PINWAY_PORT is the old name of PINWAY_HTTP__PORT"):
        read_settings()


def test_an_old_variable_overrides_a_new_name_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("[http]\nport = 2\n")
    monkeypatch.setenv("PINWAY_PORT", "1")
    assert read_settings(path).http.port == 1


def test_a_misspelt_old_name_means_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("mysql_usr = 'me'\n")
    with pytest.raises(ConfigError, match=r"no setting mysql_usr; did you mean mysql\.user\?"):
        read_settings(path)


def test_a_wrong_value_under_an_old_name_is_told_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("\nport = 'many'\n")
    with pytest.raises(ConfigError, match=rf"^{path}, line 2: http\.port: .*'many'"):
        read_settings(path)


def test_two_old_names_of_one_setting_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("feed_cutoff = 0.05\nfeed_cutoff_most = 0.1\n")
    with pytest.raises(ConfigError, match=r"feeds\.cutoff, which .*line 1 sets too"):
        read_settings(path)


@pytest.mark.parametrize(("name", "removed"), REMOVED.items())
def test_a_removed_setting_is_ignored_at_its_default_and_refused_elsewhere(
    name: str,
    removed: tuple[float | bool | str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    default, instead = removed[0], removed[1].format(str(removed[0]).lower())
    path = tmp_path / "pinway.toml"
    path.write_text(f"{name} = {json.dumps(default)}\n")
    assert read_settings(path) == read_settings()
    assert caplog.messages == [f"{path}, line 1: {name} is no setting any more: {instead}"]
    variable = f"PINWAY_{name.upper()}"
    monkeypatch.setenv(variable, "77")
    with pytest.raises(ConfigError, match=f"{variable} is no setting any more: {instead}"):
        read_settings()


def test_no_old_name_is_the_name_of_a_setting_or_a_table() -> None:
    old = {*OLD_NAMES, *REMOVED}
    assert len(old) == len(OLD_NAMES) + len(REMOVED) == 95
    assert not old & set(NAMES)
    assert not old & {name.partition(".")[0] for name in NAMES} - {"data_dir", "production"}
    assert set(OLD_NAMES.values()) <= set(NAMES)


def test_config_show_has_the_new_names(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("port = 9000\n")
    done = CliRunner().invoke(main, ["config", "show", "--changed", "--config", str(path)])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].split(maxsplit=1)[0] == "http.port"
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("value", ["10", "10.0", '"10"'])
def test_an_old_default_is_recognized_however_it_is_written(tmp_path: Path, value: str) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text(f"header_timeout = {value}\n")
    assert read_settings(path) == read_settings()

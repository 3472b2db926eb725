"""The settings: documented, read once, and with clear errors."""

import re
from pathlib import Path

import pytest

from datasources.errors import ConfigError
from gateway.cli.options import override
from gateway.settings import Settings, read_settings
from gateway.settings.model import NAMES

ROOT = Path(__file__).parents[4]


def test_every_setting_is_documented_and_no_other() -> None:
    documented, table = [], ""
    for line in (ROOT / "docs" / "settings.md").read_text().splitlines():
        if line.startswith("## "):
            found = re.fullmatch(r"## `\[(\w+)\]`", line)
            table = f"{found[1]}." if found else ""
        elif line.startswith("| `"):
            documented += [table + name for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(documented) == sorted(NAMES)


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text('[http]\nport = 1111\nhost = "0.0.0.0"\n[telemetry]\nlog_level = "debug"\n')
    monkeypatch.setenv("PINWAY_HTTP__PORT", "2222")
    monkeypatch.setenv("PINWAY_TELEMETRY__LOG_LEVEL", "error")
    settings = read_settings(path, {"telemetry.log_level": "warning"})
    assert (settings.http.host, settings.http.port, settings.telemetry.log_level) == (
        "0.0.0.0",
        2222,
        "warning",
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("http.prot = 1", r"http\.prot"),
        ("http.port = 'many'", r"http\.port"),
        ("http.port = 70000", r"http\.port"),
        ("http.allowed_hosts = [1]", r"http\.allowed_hosts"),
        ("telemetry.log_level = 'loud'", r"telemetry\.log_level"),
        ("http.request_timeout = 0", r"http\.request_timeout"),
        ("auth.secret = 'x'", r"auth\.secret"),
        ("auth.token_hours = 0", r"auth\.token_hours"),
        ("feeds.rates = '0.5:0.3:0.2'", r"feeds\.rates: must be three whole numbers from 0 to 999"),
        ("limits.max_cost = 2_000_000", r"limits\.rate_burst: must be at least max_cost"),
        ("http = 8000", r"http is a table of settings: \[http\]"),
        ("http.port = ", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=named) as error:
        read_settings(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("PINWAY_HTTP__PORT", "many", "http.port"),
        ("PINWAY_TELEMETRY__LOG_LEVEL", "loud", "telemetry.log_level"),
    ],
)
def test_a_wrong_variable_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=named) as error:
        read_settings()
    assert "\n" not in str(error.value)


def test_a_wrong_setting_names_its_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text('[htpp]\nhost = "::1"\n\n[http]\nhost = "::1"\nprot = 8080\nport = 70000\n')
    with pytest.raises(ConfigError) as error:
        read_settings(path)
    told = str(error.value)
    assert f"{path}, line 2: there is no setting htpp.host; did you mean http.host?" in told
    assert f"{path}, line 6: there is no setting http.prot; did you mean http.port?" in told
    assert f"{path}, line 7: http.port: input should be less than or equal to 65535, got" in told


def test_a_wrong_variable_and_a_wrong_option_are_named_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text("http.port = 1\n")
    monkeypatch.setenv("PINWAY_HTTP__PORT", "many")
    with pytest.raises(
        ConfigError, match=r"^the environment, PINWAY_HTTP__PORT: http\.port: .*'many'"
    ):
        read_settings(path)
    with pytest.raises(ConfigError, match=r"^--port: http\.port: .*99999"):
        override(read_settings(options={"http.port": 1}), {"port": 99_999})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PROT", "HTTP__PORT"),
        ("HTTP_PORT", "HTTP__PORT"),
        ("HTTP__PROT", "HTTP__PORT"),
        ("MYSQL_PASWORD", "MYSQL__PASSWORD"),
        ("DATADIR", "DATA_DIR"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_setting_that_was_meant(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(f"PINWAY_{name}", "8080")
    with pytest.raises(ConfigError, match=rf"PINWAY_{name}.*did you mean PINWAY_{meant}\?"):
        read_settings()


def test_a_variable_with_two_underscores_in_a_row_is_a_setting_or_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PINWAY_SOMETHING__ELSE", "1")
    with pytest.raises(ConfigError, match="PINWAY_SOMETHING__ELSE, which is no setting"):
        read_settings()


def test_variables_that_a_container_platform_sets_are_no_mistakes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SERVICE_HOST", "SERVICE_PORT", "PORT_8000_TCP_ADDR", "COMPILED"):
        monkeypatch.setenv(f"PINWAY_{name}", "0")
    assert read_settings().http.port == 8000


def test_no_message_repeats_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINWAY_AUTH__SECRET", "hunter2")
    with pytest.raises(ConfigError) as error:
        read_settings()
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("value", ["foo", "ftp://pins.example", "http://", "http://pins.example:x"])
def test_the_public_url_must_be_a_web_address(value: str) -> None:
    with pytest.raises(
        ConfigError, match=r"http\.public_url: must be an http:// or https:// address"
    ):
        read_settings(options={"http.public_url": value})


def test_a_variable_holds_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINWAY_HTTP__ALLOWED_HOSTS", "localhost, pins.example")
    monkeypatch.setenv("PINWAY_HTTP__ALLOWED_ORIGINS", "")
    settings = read_settings()
    assert settings.http.allowed_hosts == ("localhost", "pins.example")
    assert settings.http.allowed_origins == ()


def test_an_option_of_the_command_line_is_checked_like_a_setting() -> None:
    assert (
        override(
            read_settings(options={"http.port": 1}), {"port": 2, "host": None}, {"http.workers": 3}
        ).http.port
        == 2
    )
    with pytest.raises(ConfigError, match="port"):
        override(read_settings(), {"port": 99_999})


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    assert read_settings(options={"http.host": "::1", "http.port": 80}).url == "http://[::1]:80"


def test_a_missing_settings_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        read_settings(tmp_path / "absent.toml")


def test_the_made_secret_is_kept_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    settings = read_settings(options={"data_dir": tmp_path / "data"})
    assert settings.secret == settings.secret
    assert len(settings.secret) == 64
    assert (tmp_path / "data" / "auth_secret").stat().st_mode & 0o077 == 0


def test_an_empty_secret_is_refused_rather_than_signed_with(tmp_path: Path) -> None:
    (tmp_path / "auth_secret").touch()
    with pytest.raises(ConfigError, match="auth_secret is empty"):
        _ = read_settings(options={"data_dir": tmp_path}).secret


def test_a_secret_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("secrets.token_hex", stopped)
        with pytest.raises(KeyboardInterrupt):
            _ = read_settings(options={"data_dir": tmp_path}).secret
    assert len(read_settings(options={"data_dir": tmp_path}).secret) == 64


def test_production_hides_the_schema_unless_a_setting_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = ("introspection", "graphiql")
    open_to_all = read_settings()
    assert [getattr(open_to_all.http, name) for name in shown] == [True, True]
    for settings in (
        read_settings(options={"production": True, "auth.secret": "s" * 32}),
        override(read_settings(options={"auth.secret": "s" * 32}), {"production": True}),
    ):
        assert [getattr(settings.http, name) for name in shown] == [False, False]
        again = Settings.model_validate_json(
            settings.model_dump_json()
        )  # the form in which a worker gets them
        assert [getattr(again.http, name) for name in shown] == [False, False]
    monkeypatch.setenv("PINWAY_PRODUCTION", "1")
    monkeypatch.setenv("PINWAY_HTTP__GRAPHIQL", "1")
    monkeypatch.setenv("PINWAY_AUTH__SECRET", "s" * 32)
    settings = read_settings()
    assert [getattr(settings.http, name) for name in shown] == [False, True]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"production": True}, r"needs auth\.secret"),
        (
            {"production": True, "auth.secret": "s" * 32, "auth.demo_viewer": "demo"},
            r"no auth\.demo_viewer",
        ),
    ],
)
def test_production_refuses_what_is_for_development(values: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=f"--production: production: .*{named}"):
        read_settings(options=values)

"""Profiles: numbers under one name, and settings that override single numbers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import ConfigError
from feed_engine.speculation import ADAPTIVE, EAGER, FIXED, Policy
from gateway.cli import main
from gateway.settings import Feeds, Limits, Settings, changed, read_settings
from gateway.settings.profiles import PROFILES, PUBLIC, TRUSTED, Profile
from gateway.site.executors import limits_of
from gateway.site.runtime import policy_of


def test_each_number_of_a_profile_is_its_settings_default() -> None:
    for name, profile in PROFILES.items():
        limits = Limits(profile=name)
        assert limits.numbers is profile
        overridable = Limits.model_fields.keys() & set(Profile._fields)
        assert len(overridable) == 9
        for number in overridable:
            assert getattr(limits, number) == getattr(profile, number), number


def test_without_a_profile_the_limits_are_those_for_the_public() -> None:
    assert Limits() == Limits(profile="public")
    assert limits_of(Settings()).tokens == PUBLIC.query_tokens


@pytest.mark.parametrize(
    "text", ['limits = "trusted"', '[limits]\nprofile = "trusted"', 'limits.profile = "trusted"']
)
def test_a_profile_is_set_with_one_word(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text(text)
    settings = read_settings(path)
    assert settings.limits == Limits(profile="trusted")
    assert limits_of(settings).selections == TRUSTED.query_selections


@pytest.mark.parametrize("variable", ["PINWAY_LIMITS", "PINWAY_LIMITS__PROFILE"])
def test_a_variable_sets_a_profile(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "trusted")
    assert read_settings().limits == Limits(profile="trusted")


def test_a_setting_overrides_one_number_of_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text('[limits]\nrate_cost = 5\nprofile = "trusted"\n')
    monkeypatch.setenv("PINWAY_LIMITS__QUERY_DEPTH", "7")
    limits = read_settings(path).limits
    assert limits == Limits(profile="trusted", rate_cost=5, query_depth=7)
    assert (limits.rate_cost, limits.query_depth) == (5, 7)
    assert limits.max_running == TRUSTED.max_running


def test_a_profile_that_is_changed_later_changes_what_was_not_set() -> None:
    settings = Settings(limits=Limits(max_cost=9))
    trusted = changed(settings, {"limits.profile": "trusted"})
    assert trusted.limits == Limits(profile="trusted", max_cost=9)
    again = Settings.model_validate_json(trusted.model_dump_json())  # as a worker gets them
    assert again.limits == trusted.limits


@pytest.mark.parametrize("text", ['limits = "publik"', "limits = 3", '[limits]\nprofile = "all"'])
def test_a_profile_that_does_not_exist_is_one_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"limits\.profile: input should be 'public' or") as error:
        read_settings(path)
    assert str(error.value).count("line ") == 1


def test_config_show_names_the_profile_that_sets_a_value(tmp_path: Path) -> None:
    path = tmp_path / "pinway.toml"
    path.write_text('limits = "trusted"\n')
    done = CliRunner().invoke(main, ["config", "show", "--json", "--config", str(path)])
    shown = {one["name"]: (one["value"], one["source"]) for one in json.loads(done.stdout)}
    assert shown["limits.max_running"] == (0, f"limits.profile, {path}, line 1")
    assert shown["feeds.profile"] == ("adaptive", "default")


@pytest.mark.parametrize(
    ("feeds", "policy"),
    [
        (Feeds(), ADAPTIVE),
        (Feeds(cutoff=0.1), replace(ADAPTIVE, ceiling=0.1)),
        (Feeds(profile="eager", cutoff=0.2), replace(EAGER, ceiling=0.2)),
        (Feeds(profile="fixed", cutoff=0.1), FIXED),
    ],
)
def test_a_profile_of_feeds_is_a_policy_of_their_races(feeds: Feeds, policy: Policy) -> None:
    assert policy_of(feeds) == policy

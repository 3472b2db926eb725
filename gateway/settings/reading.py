"""Reads the settings once at the start: the command line overrides the environment, and the
environment overrides the file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from datasources.errors import ConfigError
from gateway.settings.given import Given, Values
from gateway.settings.messages import wrong
from gateway.settings.model import TABLES, Settings
from gateway.settings.sources import of_command_line, of_environment, of_file


def read_settings(path: Path | None = None, options: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a TOML file, the environment and options of the command line. `options` has
    values by full names, such as `http.port`.

    Raises ConfigError that says where each wrong setting was set.
    """
    return settings_of(read_values(path, options))


def read_values(path: Path | None = None, options: Mapping[str, Any] | None = None) -> Values:
    """The values that some source sets, each with its place. Raises ConfigError."""
    file = of_file(path) if path is not None else {}
    return file | of_environment(os.environ) | of_command_line(options or {})


def settings_of(values: Values) -> Settings:
    """The settings with these values, and defaults for all others. Raises ConfigError."""
    try:
        return Settings(**_nested(values))
    except ValidationError as error:
        raise wrong(error, values) from None


def changed(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with some other values, by full names, which are checked like all values.
    Raises ConfigError."""
    kept: Values = {}
    for name, value in settings.model_dump(exclude_unset=True).items():
        inner = value.items() if name in TABLES else ()
        kept |= {f"{name}.{key}": Given(one, "the settings") for key, one in inner}
        if name not in TABLES:
            kept[name] = Given(value, "the settings")
    return settings_of(kept | of_command_line(options))


def _nested(values: Values) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, given in values.items():
        table, dot, key = name.partition(".")
        if not dot and table in TABLES:
            raise ConfigError(f"{given.place}: {table} is a table of settings: [{table}]")
        if dot:
            nested.setdefault(table, {})[key] = given.value
        else:
            nested[name] = given.value
    return nested

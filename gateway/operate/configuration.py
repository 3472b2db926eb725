"""The settings in use, each with its value and its source: `pinway config show`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from datasources.urls import mask
from gateway.settings import Settings
from gateway.settings.given import Values
from gateway.settings.messages import is_secret
from gateway.settings.model import NAMES
from gateway.settings.profiles import Profile
from gateway.settings.reading import read_values, settings_of

DEFAULT = "default"


class Shown(NamedTuple):
    """A setting, its value (secrets are masked), and the place that set it."""

    name: str
    value: Any
    source: str


def shown(path: Path | None, options: Mapping[str, Any]) -> list[Shown]:
    """Every setting. Raises ConfigError for settings that a gateway would refuse."""
    values = read_values(path, options)
    settings = settings_of(values)
    tables = settings.model_dump(mode="json")
    return [
        Shown(name, _shown(name, _value(tables, name)), _source(name, settings, values))
        for name in NAMES
    ]


def _value(tables: Mapping[str, Any], name: str) -> Any:
    table, dot, key = name.partition(".")
    return tables[table][key] if dot else tables[name]


def _shown(name: str, value: Any) -> Any:
    if is_secret(name):
        return "***" if value else ""
    return mask(value) if isinstance(value, str) and ("://" in value or "@" in value) else value


def _source(name: str, settings: Settings, values: Values) -> str:
    if name in values:
        return values[name].place
    table, _, key = name.partition(".")
    if key and key in getattr(settings, table).model_fields_set:
        return "production = true"  # turns off what shows the schema
    if key in Profile._fields and (profile := values.get(f"{table}.profile")):
        return f"{table}.profile, {profile.place}"
    return DEFAULT

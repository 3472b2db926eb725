"""The settings in use, each with its value and its source: `pinway config show`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from datasources.urls import mask
from gateway.settings import Settings, read_settings
from gateway.site.setting_errors import PREFIX, Sources

_SECRET = ("secret", "password")
DEFAULT = "default"


class Shown(NamedTuple):
    """A setting, its value (secrets are masked), and the place that set it."""

    name: str
    value: Any
    source: str


def shown(path: Path | None, overrides: Mapping[str, Any]) -> list[Shown]:
    """Every setting. Raises ConfigError for settings that a gateway would refuse."""
    settings = read_settings(path, **overrides)
    text = path.read_text() if path is not None else ""
    sources = Sources(overrides, os.environ, path, text)
    return [
        Shown(name, _value(name, value), _source(name, settings, sources))
        for name, value in settings.model_dump(mode="json").items()
    ]


def _value(name: str, value: Any) -> Any:
    if any(word in name for word in _SECRET):
        return "***" if value else ""
    return mask(value) if isinstance(value, str) and ("://" in value or "@" in value) else value


def _source(name: str, settings: Settings, sources: Sources) -> str:
    if name not in settings.model_fields_set:
        return DEFAULT
    given = name in sources.overrides or f"{PREFIX}{name.upper()}" in sources.environment
    if not given and name not in sources.names_in_file():
        return "production = true"  # turns off what shows the schema
    return sources.of(name)

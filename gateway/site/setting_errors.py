"""The messages for wrong settings: where each was set, what is wrong, and what is expected."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from datasources.errors import ConfigError
from datasources.urls import mask, masked_text

PREFIX = "PINWAY_"
OTHER_VARIABLES = frozenset({"PINWAY_COMPILED", "PINWAY_STARTED"})
"""Variables of the environment that other code reads: they are neither settings nor mistakes."""
_SECRET = ("secret", "password")
_LONGEST = 60  # characters of a value that a message repeats


@dataclass(frozen=True)
class Sources:
    """The sources of values, the strongest first: the command line, the environment, a file."""

    overrides: Mapping[str, Any]
    environment: Mapping[str, str]
    path: Path | None = None
    text: str = ""

    def of(self, name: str) -> str:
        """The place where a setting was set, as text."""
        variable = f"{PREFIX}{name.upper()}"
        if name in self.overrides:
            return f"--{name.replace('_', '-')}"
        if variable in self.environment:
            return f"the environment, {variable}"
        if self.path is not None:
            line = _line_of(name, self.text)
            return f"{self.path}, line {line}" if line else str(self.path)
        return "the settings"

    def names_in_file(self) -> set[str]:
        """The settings that the file sets."""
        return set(tomllib.loads(self.text)) if self.text else set()


def wrong(error: ValidationError, sources: Sources, names: Collection[str]) -> ConfigError:
    """One line about each wrong value. `names` are all settings."""
    told = []
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else ""
        if fault["type"] == "extra_forbidden":
            message = f"there is no setting {name}{_meant(name, names)}"
        else:
            message = f"{name}: {_lowered(fault['msg'])}{_got(name, fault.get('input'))}"
        told.append(f"{sources.of(name)}: {message}")
    return ConfigError("; ".join(told) + " (docs/settings.md lists all settings)")


def check_environment(environment: Iterable[str], names: Collection[str]) -> None:
    """Raises ConfigError for a variable with nearly the name of a setting. Other variables are
    ignored: container platforms set some, for example PINWAY_SERVICE_HOST for a service with this
    name."""
    variables = {f"{PREFIX}{name.upper()}" for name in names}
    for variable in environment:
        if not variable.startswith(PREFIX) or variable in variables | OTHER_VARIABLES:
            continue
        close = get_close_matches(variable.removeprefix(PREFIX).lower(), names, 1, cutoff=0.75)
        if close:
            meant = f"{PREFIX}{close[0].upper()}"
            raise ConfigError(
                f"the environment has {variable}, which is no setting; did you mean {meant}?"
            )


def _line_of(name: str, text: str) -> int | None:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]", line.lstrip("[ ")):
            return number
    return None


def _meant(name: str, names: Collection[str]) -> str:
    close = get_close_matches(name.lower(), names, 1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _lowered(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _got(name: str, value: object) -> str:
    if any(word in name for word in _SECRET):
        return ""
    shown = masked_text(mask(value)) if isinstance(value, str) else masked_text(repr(value))
    shown = repr(shown) if isinstance(value, str) else shown
    return f", got {shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '…'}"

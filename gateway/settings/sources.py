"""The sources of settings: a TOML file, the environment and the command line.

Each source gives values by the settings' full names, such as `http.port`, with the place that set
them. Old names become new ones here.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from datasources.errors import ConfigError
from gateway.settings.given import Given, Values
from gateway.settings.model import NAMES, TABLES_WITH_PROFILE
from gateway.settings.nearest import nearest
from gateway.settings.old_names import OLD_NAMES, REMOVED, renamed

PREFIX = "PINWAY_"
OTHER_VARIABLES = frozenset(
    {
        *("PINWAY_COMPILED", "PINWAY_STARTED", "PINWAY_REPLICA_PASSWORD"),
        "PINWAY_SOURCE_PASSWORD",
    }
)
"""Variables that other code reads: they are neither settings nor mistakes."""
_HEADER = re.compile(r"\s*\[\s*[\"']?([\w-]+)[\"']?\s*\]")
_KEY = re.compile(r"\s*[\"']?([\w-]+)[\"']?(?:\s*\.\s*[\"']?([\w-]+)[\"']?)?\s*=")


def of_file(path: Path) -> Values:
    """The values of a TOML file. Raises ConfigError for a file that can't be read, and for a
    setting that has its old and its new name in it."""
    try:
        text = path.read_text()
        document = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"can't read the settings file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    lines = _lines(text)

    def place(name: str) -> str:
        line = lines.get(name) or lines.get(name.partition(".")[0])
        return f"{path}, line {line}" if line else str(path)

    found = {name: Given(value, place(name)) for name, value in _flat(document)}
    return _unfolded(renamed(found, str))


def of_environment(environment: Mapping[str, str]) -> Values:
    """The values of the variables. Raises ConfigError for a variable that is a misspelt setting,
    and for a setting that has its old and its new variable.

    Other variables are ignored: container platforms set some, for example PINWAY_SERVICE_HOST for
    a service with this name. They set none with two underscores in a row.
    """
    known = {variable(name): name for name in (*NAMES, *TABLES_WITH_PROFILE, *OLD_NAMES, *REMOVED)}
    found = {}
    for name, value in environment.items():
        if name in known:
            found[known[name]] = Given(value, f"the environment, {name}")
        elif name.startswith(PREFIX) and name not in OTHER_VARIABLES and (meant := _meant(name)):
            raise ConfigError(f"the environment has {name}, which is no setting{meant}")
    return _unfolded(renamed(found, variable))


def of_command_line(values: Mapping[str, Any]) -> Values:
    """The values of options. An option has the last part of its setting's name."""
    return {
        name: Given(value, f"--{name.rpartition('.')[2].replace('_', '-')}")
        for name, value in values.items()
    }


def variable(name: str) -> str:
    """The variable of the environment for a setting: PINWAY_HTTP__PORT for `http.port`."""
    return PREFIX + name.replace(".", "__").upper()


def _meant(name: str) -> str:
    """The end of a message about a variable that is no setting; empty if it is no mistake."""
    without = name.removeprefix(PREFIX)
    close = nearest(without.replace("__", ".").lower(), 0.75)
    if close:
        return f"; did you mean {variable(close)}?"
    return " (docs/settings.md lists all settings)" if "__" in without else ""


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name, value


def _unfolded(values: Values) -> Values:
    """The values, with `limits = "trusted"` as `limits.profile`."""
    return {
        f"{name}.profile" if name in TABLES_WITH_PROFILE else name: given
        for name, given in values.items()
    }


def _lines(text: str) -> dict[str, int]:
    """The line of each name in a TOML document. A table has the line of its header."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = header[1]
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            parts = (part for part in (table, key[1], key[2]) if part)
            found.setdefault(".".join(parts), number)
    return found

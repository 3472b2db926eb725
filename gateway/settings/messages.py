"""The messages for wrong settings: where each was set, what is wrong, and what is expected."""

from pydantic import ValidationError

from datasources.errors import ConfigError
from datasources.urls import mask, masked_text
from gateway.settings.given import Values
from gateway.settings.model import TABLES
from gateway.settings.nearest import nearest

_SECRET = ("secret", "password")
_LONGEST = 60  # characters of a value that a message repeats


def is_secret(name: str) -> bool:
    """Whether a setting's value may not be shown."""
    return any(word in name for word in _SECRET)


def wrong(error: ValidationError, values: Values) -> ConfigError:
    """One line about each wrong value."""
    told = []
    for fault in error.errors():
        table, *rest = map(str, fault["loc"])
        name = f"{table}.{rest[0]}" if table in TABLES and rest else table
        if fault["type"] == "default_factory_not_called":
            continue  # its profile has another fault
        if fault["type"] == "extra_forbidden":
            # an unknown table is one fault for all its names
            names = [name] if name in values else [n for n in values if n.startswith(f"{name}.")]
            told += [f"{values[n].place}: there is no setting {n}{_meant(n)}" for n in names]
        else:
            place = values[name].place if name in values else "the settings"
            told.append(f"{place}: {name}: {_lowered(fault['msg'])}{_got(name, fault['input'])}")
    return ConfigError("; ".join(told) + " (docs/settings.md lists all settings)")


def _meant(name: str) -> str:
    close = nearest(name)
    return f"; did you mean {close}?" if close else ""


def _lowered(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _got(name: str, value: object) -> str:
    if is_secret(name):
        return ""
    shown = masked_text(mask(value)) if isinstance(value, str) else masked_text(repr(value))
    shown = repr(shown) if isinstance(value, str) else shown
    return f", got {shown if len(shown) <= _LONGEST else shown[:_LONGEST] + '…'}"

"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gateway.settings import Settings, changed, read_settings

Command = Callable[..., Any]


def with_settings(command: Command) -> Command:
    """Adds the options --config and --data-dir. Passes the settings that they name as
    `settings`."""

    @click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="A TOML file of settings (see docs/settings.md); without it, the embedded stores.",
    )
    @click.option(
        "--data-dir",
        type=click.Path(readable=False, path_type=Path),
        help="Where the embedded stores keep data.",
    )
    def wrapped(config: Path | None, data_dir: Path | None, **given: Any) -> Any:
        overrides = {"data_dir": data_dir} if data_dir else {}
        return command(settings=read_settings(config, **overrides), **given)

    return with_parameters_of(command, wrapped)


def with_parameters_of(command: Command, wrapped: Command) -> Command:
    """The wrapper of a command, with the command's help and with the options that were added below
    the wrapper's decorator."""
    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    wrapped.__click_params__ += getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    return wrapped


with_dry_run = click.option(
    "--dry-run", is_flag=True, help="Print what would be done, and do nothing."
)


def override(settings: Settings, **values: Any) -> Settings:
    """The settings, overridden by options of the command line. Raises ConfigError."""
    given = {name: value for name, value in values.items() if value is not None}
    return changed(settings, given) if given else settings

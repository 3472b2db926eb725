"""Options that several commands share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from gateway.settings import Settings, changed, read_settings

Command = Callable[..., Any]

_SETTINGS = {
    name.rpartition(".")[2]: name
    for name in (
        "http.host",
        "http.port",
        "http.admin_host",
        "http.admin_port",
        "http.workers",
        "jobs.queues",
        "jobs.concurrency",
        "production",
    )
}
"""Options of the command line, and the settings that they override."""


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
        options = {"data_dir": data_dir} if data_dir else {}
        return command(settings=read_settings(config, options), **given)

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


def override(
    settings: Settings, options: Mapping[str, Any], values: Mapping[str, Any] | None = None
) -> Settings:
    """The settings, overridden by options of the command line and by `values`, which have full
    names. An option that was not given is None. Raises ConfigError."""
    given = {_SETTINGS[name]: value for name, value in options.items() if value is not None}
    given |= values or {}
    return changed(settings, given) if given else settings

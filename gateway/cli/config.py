"""`pinway config`."""

from pathlib import Path

import click

from gateway.cli.output import as_json, print_result, table
from gateway.operate.configuration import shown


@click.group("config")
def config() -> None:
    """The settings in force."""


@config.command("show")
@click.option("--config", "path", type=click.Path(path_type=Path), help="A TOML file of settings.")
@click.option(
    "--data-dir",
    type=click.Path(readable=False, path_type=Path),
    help="The embedded stores' directory.",
)
@click.option("--changed", is_flag=True, help="Only settings that differ from the defaults.")
@as_json
def show_command(path: Path | None, data_dir: Path | None, changed: bool, as_json: bool) -> None:
    """Show each setting's value and what set it; secrets are masked."""
    found = [
        setting._asdict()
        for setting in shown(path, {"data_dir": data_dir} if data_dir else {})
        if not changed or setting.source != "default"
    ]
    # Values come last: a long value would push the next column off the screen.
    words = table(found, ("name", "source", "value")) if found else ["every setting is a default"]
    print_result(found, words, as_json=as_json)

"""`pinway completion`: the script that makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

PLACES = {
    "bash": "~/.local/share/bash-completion/completions/pinway",
    "zsh": "a folder of $fpath, as _pinway",
    "fish": "~/.config/fish/completions/pinway.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(PLACES)))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    Save it where the shell looks for completions: for bash
    ~/.local/share/bash-completion/completions/pinway.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root().command
    click.echo(kind(root, {}, "pinway", "_PINWAY_COMPLETE").source())

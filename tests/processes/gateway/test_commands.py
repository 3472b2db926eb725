"""The command line imports a command's module when the command is used."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from gateway.cli import COMMANDS, main

HEAVY = ("strawberry", "graphql", "starlette", "pydantic", "prometheus_client", "aiomysql")


@pytest.mark.parametrize("words", ["--help", "sreve", ""])
def test_help_and_a_mistyped_command_import_no_command(words: str) -> None:
    code = (
        "import sys\n"
        "from gateway.cli import main\n"
        "try:\n"
        f"    main({words.split()})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
    if words == "sreve":
        assert "Did you mean 'serve'?" in done.stderr


def test_completion_offers_every_command_with_what_it_does() -> None:
    completions = ShellComplete(main, {}, "pinway", "_PINWAY_COMPLETE").get_completions([], "")
    assert {one.value: one.help for one in completions} == {
        name: source.summary for name, source in COMMANDS.items()
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_found_under_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_the_help_has_no_sentence_that_is_cut() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert "..." not in shown.partition("Commands:")[2]


def test_an_old_name_of_a_setting_is_told_in_one_line(tmp_path: Path) -> None:
    config = tmp_path / "pinway.toml"
    config.write_text("port = 9000\n")
    command = [sys.executable, "-m", "gateway", "config", "show", "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [
        f"{config}, line 1: port is now http.port; the next version does not read the old name"
    ]

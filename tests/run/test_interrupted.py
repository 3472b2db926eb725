"""Ctrl-C or SIGTERM ends a command with one line, whatever the command was doing."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gateway.cli import main
from tests.pinway_process import ROOT
from tests.run.test_run import processes_on

INTERRUPTED_IMPORTS = """
import signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == "gateway.cli":
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from gateway.__main__ import main
main()
"""

STOPPED_EXPORT = """
import asyncio, signal
from gateway.cli import data, main

async def stopped_in_the_middle(stores, lines, progress):
    lines.write(b"half a line")
    lines.flush()
    signal.raise_signal(signal.SIGTERM)
    await asyncio.sleep(60)

data.export_file = stopped_in_the_middle
main()
"""


@pytest.mark.parametrize(
    ("signal_", "at_start"),
    [
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_IGN),
    ],
)
def test_an_import_that_waits_for_its_input_ends_at_once(
    tmp_path: Path, signal_: signal.Signals, at_start: Any
) -> None:
    """A terminal's commands get SIGINT; a shell's background commands ignore it."""
    data = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-m", "gateway", "import", "-", "--data-dir", str(data)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, at_start),
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write('{"type":"user"}\n')
        process.stdin.flush()
        told = ""
        while "line 1: " not in told:
            line = process.stderr.readline()
            assert line, told
            told += line
        process.send_signal(signal_)
        try:
            assert process.wait(300) == 128 + signal_
        finally:
            process.kill()
        # On a busy machine, the end may take long enough for a message.
        rest = re.sub("still waiting for .*\n", "", process.stderr.read())
    assert rest == "pinway: stopped\n"
    assert processes_on(data) == []


def test_a_command_that_is_still_importing_its_modules_ends_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORTS, "doctor"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "pinway: stopped\n")


def test_an_export_that_is_stopped_leaves_the_earlier_export(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "all.jsonl"
    assert CliRunner().invoke(main, ["init", "--data-dir", str(data)]).exit_code == 0
    file.write_text("an earlier export\n")
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_EXPORT, "export", str(file), "--data-dir", str(data)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr.endswith("pinway: stopped\n")
    assert file.read_text() == "an earlier export\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.jsonl", "data"]
    assert processes_on(data) == []


def test_an_export_keeps_the_permissions_of_the_file_that_it_replaces(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "all.jsonl"
    assert CliRunner().invoke(main, ["init", "--data-dir", str(data)]).exit_code == 0
    file.touch(mode=0o600)
    done = CliRunner().invoke(main, ["export", str(file), "--data-dir", str(data)])
    assert done.exit_code == 0, done.output
    assert file.stat().st_mode & 0o777 == 0o600


def test_help_and_the_readme_name_each_exit_status() -> None:
    readme = (ROOT / "README.md").read_text()
    for text in (CliRunner().invoke(main, ["--help"]).output, readme):
        told = " ".join(text[text.lower().index("exit status") :].replace("`", "").split())
        assert re.match(
            r"exit status.* 0 .* 1 .* 2 .* 3 .*doctor, dump, migrate back, migrate verify, related "
            r"status, schema check, search status, shards check, shards verify, stack status.*"
            r"train.* "
            r"130 .*Ctrl-C.* 143 .*SIGTERM",
            told,
            re.IGNORECASE,
        ), told[:500]

"""Ctrl-C ends a command with exit status 130 and one line, whatever it was doing."""

import re
import signal
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from gateway.cli import main
from tests.run.test_run import processes_on
from tests.serving import ROOT

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


def test_an_import_that_waits_for_its_input_ends_at_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-m", "gateway", "import", "-", "--data-dir", str(data)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # As started by a terminal, even if the tests run in the background of a shell.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("no JSON\n")
        process.stdin.flush()
        told = ""
        while "line 1: " not in told:
            line = process.stderr.readline()
            assert line, told
            told += line
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(30) == 130
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
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "pinway: stopped\n")


def test_help_and_the_readme_name_each_exit_status() -> None:
    readme = (ROOT / "README.md").read_text()
    for text in (CliRunner().invoke(main, ["--help"]).output, readme):
        told = " ".join(text[text.lower().index("exit status") :].replace("`", "").split())
        assert re.match(
            r"exit status.* 0 .* 1 .* 2 .* 3 .*doctor, schema check, shards check, "
            r"shards verify, stack status.* 130 .*Ctrl-C",
            told,
            re.IGNORECASE,
        ), told[:500]

"""The commands in README.md and docs, in order, and how each is run in a test."""

import os
import re
import shlex
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from gateway.cli import main
from tests import forked
from tests.pinway_process import ROOT, free_port

PAGES = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md"))]
PAGES.sort(key=lambda page: (page != "README.md", page != "docs/tutorial.md", page))
SECONDS = 900.0
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (.*)$", re.MULTILINE)
_COMMAND = re.compile(r"^(?:[A-Z_]+=\S+ )*(?:\.venv/bin/|pinway |make |zcat )")
_DRY = {"test", "test-all", "bench", "drill", "docs", "check", "lock", "dist"}
"""Targets of the Makefile that take minutes, or don't end: only printed by make."""
_OF_A_SHELL = set("|><&;$`*?~")
_SETTINGS = "stack/pinway.toml"
_EMPTY = "empty"


@dataclass(frozen=True)
class Documented:
    """A command line of a page."""

    page: str
    line: str


def documented() -> Iterator[Documented]:
    """Every command line, page by page."""
    for page in PAGES:
        text = (ROOT / page).read_text()
        blocks = [block for language, block in _BLOCK.findall(text) if language in ("", "sh")]
        lines = [line for block in blocks for line in block.splitlines()]
        for line in [*lines, *_INDENTED.findall(_BLOCK.sub("", text))]:
            if _COMMAND.match(line):
                yield Documented(page, re.sub(r"\s{2,}#.*|\s#\s.*", "", line).strip())


class Newcomer:
    """A folder like the checkout after `make run`, in which commands are run."""

    def __init__(self, folder: Path, stack: Path) -> None:
        self.folder, self._port = folder, free_port()
        for name in (".venv", "deploy", "docs", "bench"):
            (folder / name).symlink_to(ROOT / name)
        self._served = set[str]()
        self._stack = stack.resolve()
        (folder / "stack").symlink_to(stack)

    def run(self, line: str) -> str:
        """Run a command line to its end, or a server until it answers. Returns "" or the error."""
        words = shlex.split(line.replace("FILE", _SETTINGS))
        assignments = [w for w in words if re.fullmatch(r"[A-Z_]+=.*", w)]
        if "make" in words:
            target = words[words.index("make") + 1]
            if target in _DRY:
                return self._finish(["make", "-n", "-C", str(ROOT), target, *words[2:]])
            options = f"--data-dir {self.folder}/.pinway --port {self._port}"
            make = ["make", "-s", "-C", str(ROOT), target, f"ARGS={options}"]
            return self._answer(make, assignments)
        if "serve" in words or "worker" in words:
            verb = "serve" if "serve" in words else "worker"
            admin = "--port" if verb == "serve" else "--admin-port"
            again, self._served = verb in self._served, {*self._served, verb}
            return self._answer([*words, admin, str(self._port)], assignments, typed=not again)
        text = line.replace("FILE", _SETTINGS).replace("[--json]", "--json")
        # By its own path, because running servers are recognized by it.
        text = text.replace("--dir stack", f"--dir {self._stack}")
        text = re.sub(r"(^|\| )pinway ", r"\1.venv/bin/pinway ", text)
        if "shards" in words and "show" not in words:
            return _read(words)  # these move shards; tests/stack and tests/faults run them
        if words[1:3] == ["cache", "servers"]:
            return _read(words)  # tests/replication runs it
        if "feed status" in line:  # of a running gateway
            serve = [".venv/bin/pinway", "serve", "--config", _SETTINGS, "--port", str(self._port)]
            told = f"{text} --url http://127.0.0.1:{self._port}"
            return self._answer(serve, [], lambda: self._forked(told), typed=False)
        if words[1] == "dump":  # of the demo content, it would write thousands of small files
            self._forked(f"pinway init --data-dir {_EMPTY}")
            text = f"{text} --data-dir {_EMPTY}"
        if words[0].endswith("pinway") and not set(line) & _OF_A_SHELL:
            return self._forked(text)
        return self._finish(["bash", "-o", "pipefail", "-c", text])

    def _forked(self, line: str) -> str:
        """Run a command line of `pinway` without the imports of a new process. The first command
        lines of servers run as they are typed, so the command itself is tried, too."""
        return _error(forked.run("pinway", *shlex.split(line)[1:], folder=self.folder))

    def _finish(self, command: list[str]) -> str:
        return _error(
            subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        )

    def _answer(
        self,
        command: list[str],
        assignments: list[str],
        then: Callable[[], str] = lambda: "",
        *,
        typed: bool = True,
    ) -> str:
        log = self.folder / "server.log"
        environment = {**os.environ, **dict(a.split("=", 1) for a in assignments)}
        log.write_bytes(b"")
        process: subprocess.Popen[bytes] | forked.Forked
        if typed:
            with log.open("wb") as output:
                process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    stdout=output,
                    stderr=output,
                    env=environment,
                    start_new_session=True,
                )
        else:
            process = forked.Forked(
                *("pinway", *command[1:]), environment=environment, folder=self.folder, log=log
            )
        try:
            deadline = time.monotonic() + SECONDS
            while process.poll() is None and time.monotonic() < deadline:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/healthz"):
                        told = then()
                        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
                        process.wait(300)
                        return told
                except OSError:
                    time.sleep(0.05)  # nothing tells when a process begins to listen
            return log.read_text()[-2000:] or f"ended with {process.poll()}"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _error(done: "subprocess.CompletedProcess[str]") -> str:
    return "" if done.returncode == 0 else done.stdout[-500:] + done.stderr[-1500:]


def _read(words: list[str]) -> str:
    """Read a command line of `pinway` with its options, and run nothing. Returns "" or the
    error."""
    read = CliRunner().invoke(main, [*words[1:], "--help"])
    return "" if read.exit_code == 0 else read.output

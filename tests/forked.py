"""Modules of the project in forked processes: their parent has imported what most of them need.

A command of `pinway` spends two thirds of its time on imports. A forked process has the modules
from its start. Otherwise it is like any process: it can be killed, and has its own memory,
descriptors, environment and exit status.
"""

import gc
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MODULES = (
    "gateway.__main__",
    "gateway.app",
    "gateway.cli.data",
    "gateway.cli.dump",
    "gateway.cli.migrate",
    "gateway.cli.migrate_back",
    "gateway.cli.output",
    "gateway.cli.service",
    "coredis.patterns.pipeline",
    "datasources.backends",
    "datasources.file",
    "datasources.memory",
    "datasources.mysql",
    "datasources.mysql.source",
    "datasources.mysql.source_log",
    "datasources.mysql.source_stop",
    "datasources.mysql.source_writer",
    "datasources.obstore",
    "datasources.redis",
    "datasources.rocksdb",
    "datasources.sqlite",
    "datasources.streaq",
    "datasources.tantivy",
    "encodings.idna",
    "feed_engine.related.build",
    "feed_engine.related.walk",
    "gateway.server.process",
    "gateway.server.worker",
    "numpy.ma",
    "numpy.random",
    "tests.dumps.killed_dump",
    "tests.importing.killed_import",
    "tests.migration.seams",
    "uvicorn.lifespan.off",
    "uvloop",
    "pytest",  # each child imports it again as the main module of this process
)
"""The modules that commands import, at least the dear ones."""


class Forked:
    """`python -m MODULE WORDS`, forked. Has the part of `subprocess.Popen` that tests use.

    With a file `log`, the process has a session of its own, and appends what it prints to the file.
    """

    def __init__(
        self,
        module: str,
        *words: str,
        environment: Mapping[str, str],
        folder: Path = ROOT,
        log: Path | None = None,
    ) -> None:
        out, its_out = multiprocessing.Pipe(duplex=False)
        error, its_error = multiprocessing.Pipe(duplex=False)
        given = (module, words, dict(environment), folder, log, its_out, its_error)
        self._process = _server().context.Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.stdout, self.stderr = (os.fdopen(os.dup(end.fileno()), "rb") for end in (out, error))
        for end in (out, error, its_out, its_error):
            end.close()

    @property
    def returncode(self) -> int | None:
        """The exit status, or minus the signal's number; None while the process runs."""
        return self._process.exitcode

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """The output and the errors of the process, when it has ended. Raises TimeoutError."""
        with ThreadPoolExecutor(2) as threads:
            readers = [threads.submit(pipe.read) for pipe in (self.stdout, self.stderr)]
            try:
                out, error = (reader.result(timeout) for reader in readers)
            except TimeoutError:
                self.kill()
                raise
        self._process.join()
        return out, error

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, when the process has ended. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


def run(
    module: str,
    *words: str,
    environment: Mapping[str, str] = os.environ,
    folder: Path = ROOT,
    timeout: float = 900.0,
) -> "subprocess.CompletedProcess[str]":
    """`python -m MODULE WORDS`, forked, to its end."""
    process = Forked(module, *words, environment=environment, folder=folder)
    out, error = process.communicate(timeout)
    assert process.returncode is not None
    return subprocess.CompletedProcess(
        [module, *words], process.returncode, out.decode(), error.decode()
    )


def processor_seconds() -> float:
    """The processor time of the forked processes that have ended, and of their parent."""
    if not _server.cache_info().currsize:
        return 0.0
    fields = Path(f"/proc/{_server().parent}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class _Server(NamedTuple):
    context: ForkServerContext
    parent: int
    """The process that forks."""


@cache
def _server() -> _Server:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(MODULES))
    told, tell = context.Pipe(duplex=False)
    first = context.Process(target=_tell_parent, args=(tell,))
    first.start()
    return _Server(context, told.recv())


def _tell_parent(tell: Connection) -> None:
    tell.send(os.getppid())


def _run(
    module: str,
    words: tuple[str, ...],
    environment: dict[str, str],
    folder: Path,
    log: Path | None,
    out: Connection,
    error: Connection,
) -> None:
    """The whole work of a forked process."""
    for number, end in ((1, out), (2, error)):
        if log is None:
            os.dup2(end.fileno(), number)
        else:
            with log.open("ab") as file:
                os.dup2(file.fileno(), number)
        end.close()
    if log is not None:
        os.setsid()
    gc.freeze()  # the collector would visit all modules, and copy their pages
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)

"""The first start in a clean checkout, as a newcomer's `make run` does it: environment, packages,
demo content and a page, while the compilation goes on behind."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.packaging.builds import NOT_SOURCES
from tests.pinway_process import ROOT, Serving, free_port, wait_until_ready
from tests.run.test_run import HOME


def test_a_clean_checkout_shows_its_content_while_it_is_compiled(tmp_path: Path) -> None:
    checkout, log = tmp_path / "pinway", tmp_path / "log"
    shutil.copytree(ROOT, checkout, ignore=NOT_SOURCES)
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "bootstrap.py", "run", "--times", "--port", str(port)],
            cwd=checkout,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    served = Serving(process, f"http://127.0.0.1:{port}", log, checkout / ".pinway")
    try:
        wait_until_ready(served)
        edges = served.ask(HOME)["data"]["homeFeed"]["edges"]
        assert len(edges) == 10
        assert not [*checkout.glob("gateway/**/*.so"), *checkout.glob("loaders/*.so")]
        compiler = int((checkout / "build" / "compiling.lock").read_text())
        assert os.sched_getscheduler(compiler) == os.SCHED_IDLE
        assert served.stop() == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    until_ended(compiler)  # nothing of Pinway goes on after Ctrl-C
    told = log.read_text()
    for words in ("the next one is faster", "environment ", ", packages ", "making the stores "):
        assert told.count(words) == 1, told
    for words in ("warning", "no C compiler", "can't be"):
        assert words not in told, told


def until_ended(pid: int) -> None:
    """Wait until a process that is not a child has ended. pytest-timeout bounds the wait."""
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.05)  # nothing tells when another's child ends

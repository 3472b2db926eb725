"""The effects of signals on a serving process, in a separate process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PROGRAM = """
import asyncio, signal, sys
from gateway.server.loops import {loop}run_until_stopped

async def main():
    print("ready", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("closed", flush=True)

run_until_stopped(main(){argument})
print("ended", flush=True)
"""
PROGRAMS = {
    "supervisor": PROGRAM.format(loop="", argument=""),
    "worker": PROGRAM.format(loop="fast_loop, ", argument=", fast_loop"),
}


def ignore_interrupts() -> None:
    """Ignore interrupts, as a shell does for a script's background commands."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def started(program: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAMS[program]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ignore_interrupts,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_started_in_the_background_stops_when_it_is_told(
    program: str, number: signal.Signals
) -> None:
    with started(program) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    assert (out, process.returncode) == ("closed\nended\n", 0), err


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_hang_up_ends_nothing_and_is_told(program: str) -> None:
    with started(program) as process:
        for _ in range(2):
            os.kill(process.pid, signal.SIGHUP)
            assert process.stderr is not None
            assert "SIGHUP is ignored" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=300)
    assert (out, process.returncode) == ("closed\nended\n", 0)

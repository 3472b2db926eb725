"""`pinway` whose supervisor forks its workers, so that these have the modules that it has imported:
`python -m tests.run.warm_supervisor SIGINT WORDS`. SIGINT is the number of its handler: 0 for the
default, 1 to ignore it.

asyncio starts a worker as it starts each process, up to the last step (see fork_exec in
subprocess.py): a fork takes the place of a fork and a new program.
"""

import asyncio
import gc
import os
import runpy
import signal
import subprocess
import sys
from typing import Any, NoReturn

from gateway.__main__ import main

_PROGRAM, _DESCRIPTORS, _STDIN, _STDOUT, _FAILURE = 0, 3, 6, 9, 13
"""Places of arguments of fork_exec. The supervisor waits until the last of them, a descriptor, is
closed."""


def fork(*given: Any) -> int:
    """Start `python -m MODULE WORDS` by a fork. Returns its process id."""
    pid = os.fork()
    if pid == 0:
        _run(list(map(os.fsdecode, given[_PROGRAM])), given)
    return pid


def _run(program: list[str], given: tuple[Any, ...]) -> NoReturn:
    try:
        gc.freeze()  # objects of the supervisor are never freed, and close no descriptors
        os.setpgid(0, 0)
        for number, end in ((0, given[_STDIN]), (1, given[_STDOUT])):
            os.dup2(end, number)
        _close_others({0, 1, 2, *given[_DESCRIPTORS]} - {given[_FAILURE]})
        signal.set_wakeup_fd(-1)
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(stop, signal.SIG_DFL)
        asyncio._set_running_loop(None)
        _, option, module, *words = program
        assert option == "-m"
        sys.argv = [module, *words]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        os._exit(0)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr, flush=True)
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    finally:
        os._exit(1)


def _close_others(kept: set[int]) -> None:
    for number in map(int, os.listdir("/proc/self/fd")):
        if number not in kept:
            try:
                os.close(number)
            except OSError:  # the listing's own
                continue


if __name__ == "__main__":
    handler, *words = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.Handlers(int(handler)))
    sys.argv[1:] = words
    subprocess._fork_exec = fork  # type: ignore[attr-defined]
    main()

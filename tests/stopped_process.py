"""Stops a process by SIGSTOP, and returns when it has stopped."""

import os
import signal

from deploy.stack.process import identify, wait_paused


def stop_process(pid: int) -> None:
    """Stop every thread of a process. SIGSTOP alone lets its threads go on for a moment."""
    identity = identify(pid)
    assert identity is not None
    os.kill(pid, signal.SIGSTOP)
    assert wait_paused(identity, timeout=600)

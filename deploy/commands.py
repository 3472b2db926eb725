"""Runs programs to their end."""

import subprocess
from collections.abc import Mapping, Sequence


def run(
    command: Sequence[str], env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, without input. `stdout` of the result also has its errors."""
    return subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )

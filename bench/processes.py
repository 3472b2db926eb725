"""The memory and the processor time of other processes, as Linux tells them."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """The bytes of memory that a process has now."""
    return _status(pid, "VmRSS:")


def most_resident(pid: int) -> int:
    """The most bytes of memory that a process had so far."""
    return _status(pid, "VmHWM:")


def processor_seconds(pid: int) -> float:
    """The processor time of a process so far, on all cores."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(text.partition(name)[2].split()[0])

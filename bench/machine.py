"""The description of the machine that a benchmark ran on, for pages of figures."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """The processor and the system, in one line."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"

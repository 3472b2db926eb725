"""Prometheus' checker of rules and configurations, from Debian's package `prometheus`."""

import os
import shutil
import subprocess
from functools import cache


@cache
def promtool() -> str:
    """The path of promtool. Installs Debian's package if it is missing and the user is root."""
    found = shutil.which("promtool")
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", "prometheus"]):
            subprocess.run(["apt-get", "-qq", *command], env=environment, capture_output=True)
        found = shutil.which("promtool")
    if found is None:
        raise RuntimeError("promtool is missing: install it (Debian: apt-get install prometheus)")
    return found

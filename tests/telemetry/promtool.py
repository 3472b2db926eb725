"""Prometheus' checker of rules and configurations, from Debian's package `prometheus`."""

import os
import shutil
from functools import cache

from deploy import debian


@cache
def promtool() -> str:
    """The path of promtool. Installs Debian's package if it is missing and the user is root."""
    found = shutil.which("promtool")
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        debian.install(["prometheus"])
        found = shutil.which("promtool")
    if found is None:
        raise RuntimeError("promtool is missing: install it (Debian: apt-get install prometheus)")
    return found

"""The archive of HBase's classes (Java's class-data sharing): verified classes, which a JVM maps
into its memory. With it, a master and a Thrift server need half the processor time to start.

A JVM writes the archive when it ends. So the first `pinway stack up` starts a cluster for this
alone, and stops it. The archive is beside the jars. Without one, servers start more slowly.
"""

import fcntl
import os
import shutil
from pathlib import Path

from deploy.stack import install, ports
from deploy.stack.errors import StackError
from deploy.stack.install import HBASE, Jars, Progress
from deploy.stack.java import HBase

_SCRATCH = "recording"
_TIMEOUT = 600.0  # seconds: the machine may be busy


class Recorded(HBase):
    """A cluster that writes the archive `written` of its classes when it ends."""

    stop_grace = _TIMEOUT

    @property
    def written(self) -> Path:
        return self.dir / "classes.jsa"

    def sharing(self) -> list[str]:
        # The log would name each class that no archive may have. Other JVMs know no archives.
        return [
            "-XX:+IgnoreUnrecognizedVMOptions",
            f"-XX:ArchiveClassesAtExit={self.written}",
            "-Xlog:disable",
        ]


def ensure(progress: Progress, jars: Jars = HBASE, recorded: type[Recorded] = Recorded) -> None:
    """Make the archive for the present jars and the present Java. Returns at once if it was made
    before. Only one process at a time makes it; the others wait. Raises StackError if the cluster
    does not start."""
    place = install.class_archive(jars)
    if place.exists():
        return
    try:
        place.parent.mkdir(exist_ok=True)
        with (place.parent / "archive.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():  # Otherwise another process made it during the wait.
                progress(f"preparing the classes of {jars.name}, so that these start faster")
                _record(place, recorded)
    except OSError as problem:
        progress(f"cannot write {place} ({problem.strerror}): {jars.name} start more slowly")


def _record(place: Path, recorded: type[Recorded]) -> None:
    root = place.parent / _SCRATCH
    chosen = ports.pick(["main", "region", "zookeeper"], {}, {})
    cluster = recorded("hbase", root, chosen)
    cluster.stop()  # the cluster of a run that was killed
    shutil.rmtree(root, ignore_errors=True)
    try:
        cluster.start()
        cluster.wait_ready(_TIMEOUT)
        if not cluster.stop():
            raise StackError(f"{cluster.dir} was in use for too long")
        made = cluster.written
        if not made.exists():
            made.touch()  # An empty file says that this Java writes no archive.
        _sync(made)  # A JVM that maps half an archive crashes.
        for old in place.parent.glob(install.CLASS_ARCHIVES):
            old.unlink()
        made.replace(place)
    finally:
        cluster.stop()
    shutil.rmtree(root, ignore_errors=True)  # not after a failure: it has the log


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

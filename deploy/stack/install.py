"""Puts on this host what the stack needs: Debian packages, and HBase's jars from Maven."""

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from datasources.replication import programs
from deploy import debian
from deploy.commands import run
from deploy.stack.errors import StackError

HBASE = Path(__file__).parent.parent / "hbase"
HBASE_LIB = HBASE / "lib"
_MARKER = ".complete"

# Program → Debian package. The -core packages bring the programs and start nothing by themselves.
PACKAGES = {
    "mariadbd": "mariadb-server-core",
    "mariadb-install-db": "mariadb-server-core",
    "mariadb": "mariadb-client-core",
    "redis-server": "redis-server",
    "memcached": "memcached",
    "java": "default-jre-headless",
}
_MAVEN = {"mvn": "maven"}
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"])

Progress = Callable[[str], None]


def find(program: str) -> str | None:
    # Servers are in sbin, which is not in every user's path.
    return shutil.which(program, path=_PATH)


def tool(program: str) -> str:
    """The path of a program; raises StackError that names its package."""
    path = find(program)
    if path is None:
        package = {**PACKAGES, **_MAVEN, **programs.PACKAGES}[program]
        raise StackError(f"{program} is missing: run `apt-get install {package}`.")
    return path


def ensure(progress: Progress) -> None:
    """Install what is missing. Returns at once if nothing is. Raises StackError."""
    ensure_programs(PACKAGES if jars_complete() else {**PACKAGES, **_MAVEN}, progress)
    if not jars_complete():
        _fetch_jars(progress)


def ensure_programs(wanted: Mapping[str, str], progress: Progress) -> None:
    """Install the programs that are missing. `wanted` has the Debian package of each program.
    Raises StackError."""
    missing = sorted({package for program, package in wanted.items() if find(program) is None})
    if missing:
        _install(missing, progress)
        for program in wanted:
            tool(program)


def _install(packages: Sequence[str], progress: Progress) -> None:
    by_hand = f"run `apt-get install --no-install-recommends {' '.join(packages)}` as root"
    if find("apt-get") is None:
        raise StackError(
            f"missing: {', '.join(packages)} (names of Debian packages; this host has no apt-get): "
            "install them by your system's means, then run this again."
        )
    prefix: list[str] = []
    if os.geteuid() != 0:
        prefix = ["sudo", "-n"]
        if find("sudo") is None or run([*prefix, "true"]).returncode != 0:
            raise StackError(f"missing: {', '.join(packages)}; {by_hand}, then run this again.")
    progress(f"installing Debian packages: {' '.join(packages)}")
    done = debian.install(packages, prefix)
    if done.returncode != 0:
        print(done.stdout[-3000:], file=sys.stderr)
        raise StackError(f"apt-get failed; {by_hand} to see why, then run this again.")


def jars_complete(lib: Path = HBASE_LIB, pom: Path = HBASE / "pom.xml") -> bool:
    """Whether `lib` has all jars that the present pom file names."""
    try:
        return (lib / _MARKER).read_text() == hashlib.sha256(pom.read_bytes()).hexdigest()
    except FileNotFoundError:
        return False


def _fetch_jars(progress: Progress) -> None:
    target = HBASE / "target"
    target.mkdir(exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if jars_complete():  # Another process did it during the wait.
            return
        progress("fetching HBase and ZooKeeper with Maven (149 jars, 108 MB)")
        fresh = target / "lib"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [tool("mvn"), "-q", "-B", "-f", str(HBASE / "pom.xml")]
        command += ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        done = run([*command, f"-DoutputDirectory={fresh}"])
        if done.returncode != 0 or not any(fresh.glob("hbase-server-*.jar")):
            print(done.stdout[-3000:], file=sys.stderr)
            raise StackError("Maven could not fetch the jars; check the network, run this again.")
        digest = hashlib.sha256((HBASE / "pom.xml").read_bytes()).hexdigest()
        (fresh / _MARKER).write_text(digest)
        shutil.rmtree(HBASE_LIB, ignore_errors=True)
        fresh.rename(HBASE_LIB)

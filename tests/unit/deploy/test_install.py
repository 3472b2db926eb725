"""`deploy/stack/install.py`: what it says when something is missing."""

import hashlib
from pathlib import Path

import pytest

from deploy.stack import install
from deploy.stack.errors import StackError


def test_a_missing_program_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_PATH", "/nowhere")
    with pytest.raises(StackError, match="mariadbd is missing: run `apt-get install mariadb-serv"):
        install.tool("mariadbd")


def test_a_host_without_apt_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_PATH", "/nowhere")
    with pytest.raises(StackError, match=r"missing: .*memcached.*redis-server.* has no apt-get"):
        install.ensure(lambda _: None)


def test_jars_are_complete_only_for_the_module_they_were_fetched_for(tmp_path: Path) -> None:
    pom = tmp_path / "pom.xml"
    pom.write_text("<project/>")
    lib = tmp_path / "lib"
    assert not install.jars_complete(lib, pom)
    lib.mkdir()
    assert not install.jars_complete(lib, pom)
    (lib / ".complete").write_text(hashlib.sha256(pom.read_bytes()).hexdigest())
    assert install.jars_complete(lib, pom)
    pom.write_text("<project></project>")
    assert not install.jars_complete(lib, pom)

"""`deploy/stack/install.py`: what it says when something is missing."""

from pathlib import Path

import pytest

from deploy.stack import install
from deploy.stack.errors import StackError
from deploy.stack.install import Jars


def test_a_missing_program_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_PATH", "/nowhere")
    with pytest.raises(StackError, match="mariadbd is missing: run `apt-get install mariadb-serv"):
        install.tool("mariadbd")


def test_a_host_without_apt_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_PATH", "/nowhere")
    with pytest.raises(StackError, match=r"missing: .*memcached.*redis-server.* has no apt-get"):
        install.ensure(lambda _: None)


@pytest.fixture
def jars(tmp_path: Path) -> Jars:
    """A module of OpenSearch of one jar, with a Maven that is already done."""
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "http.properties").write_text("version=@VERSION@\n")
    (tmp_path / "http.policy").write_text("grant {};\n")
    return Jars(
        tmp_path,
        name="a server",
        size="2 jars",
        known="core-*.jar",
        home="home",
        lib="lib",
        module="http",
        of_module=("http-",),
    )


@pytest.fixture
def fetched(jars: Jars, monkeypatch: pytest.MonkeyPatch) -> Jars:
    """The jars, fetched by a program that stands in for Maven."""
    maven = jars.folder / "mvn"
    maven.write_text(
        "#!/bin/sh\nfor word; do case $word in -DoutputDirectory=*) out=${word#*=};; esac; done\n"
        'mkdir -p "$out" && touch "$out/core-2.1.jar" "$out/http-4.jar"\n'
    )
    maven.chmod(0o755)
    monkeypatch.setattr(install, "tool", lambda program: str(jars.folder / program))
    install.fetch(jars, lambda _: None)
    return jars


def test_jars_are_complete_only_for_the_files_that_they_were_fetched_for(fetched: Jars) -> None:
    for name in ("pom.xml", "http.policy"):
        assert install.is_complete(fetched)
        (fetched.folder / name).write_text("another")
        assert not install.is_complete(fetched)
        install.fetch(fetched, lambda _: None)


def test_jars_that_were_never_fetched_are_not_complete(jars: Jars) -> None:
    assert not install.is_complete(jars)


def test_a_modules_jars_leave_the_class_path_and_are_described(fetched: Jars) -> None:
    assert fetched.class_path == f"{fetched.folder}/home/lib/*"
    made = {str(path.relative_to(fetched.made)) for path in fetched.made.rglob("*.*")}
    assert made == {
        ".complete",
        "lib/core-2.1.jar",
        "modules/http/http-4.jar",
        "modules/http/plugin-descriptor.properties",
        "modules/http/plugin-security.policy",
    }
    described = fetched.made / "modules" / "http" / "plugin-descriptor.properties"
    assert described.read_text() == "version=2.1\n"

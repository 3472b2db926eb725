"""The container files pass their linter, and copy files that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deploy

ROOT = Path(deploy.__file__).parents[1]
FILES = {
    "deploy/gateway/Dockerfile": ROOT,
    "deploy/hbase/Dockerfile": ROOT / "deploy" / "hbase",
}
"""Each container file, and the folder that it is built from."""


def lint(path: Path) -> subprocess.CompletedProcess[str]:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint, "hadolint is missing in .venv: `python3 bootstrap.py install test`"
    return subprocess.run([hadolint, str(path)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", FILES)
def test_the_linter_has_nothing_to_say(name: str) -> None:
    found = lint(ROOT / name)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_linter_finds_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN cd /tmp && apt-get install gcc\n")
    assert lint(tmp_path / "Dockerfile").returncode != 0


@pytest.mark.parametrize(("name", "context"), FILES.items())
def test_what_is_copied_exists(name: str, context: Path) -> None:
    text = (ROOT / name).read_text()
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert copied
    for source in copied:
        assert (context / source).exists(), source


def test_the_gateways_image_runs_without_root_and_checks_its_health() -> None:
    last = (ROOT / "deploy/gateway/Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", last, re.MULTILINE)


def test_the_build_checks_the_installed_modules_and_not_the_sources(tmp_path: Path) -> None:
    """The check runs in the folder of the sources, whose packages have the same names."""
    text = (ROOT / "deploy/gateway/Dockerfile").read_text()
    [options] = re.findall(r"/opt/pinway/bin/python (.*)-c \"from pinway", text)
    for name in ("gateway", "pinway"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the sources')")
    done = subprocess.run(
        [sys.executable, *options.split(), "-c", "import pinway.path, gateway"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")

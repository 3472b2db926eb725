"""The project's folders are its packages: no dependency may bring a package of the same name."""

import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUR_PACKAGES = {
    "gateway",
    "schema",
    "resolvers",
    "loaders",
    "datasources",
    "feed_engine",
    "deploy",
    "bench",
    "tests",
}
PIN = re.compile(r"^([a-z0-9.-]+)==([^\s;\\]+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    """The versions that a lock file pins, by package."""
    return dict(PIN.findall((ROOT / "requirements" / f"{name}.lock").read_text()))


def normalized(name: str) -> str:
    """A distribution's name as lock files write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_locked_dependency_claims_a_package_name_of_ours() -> None:
    locked = pins("test")
    claims = {
        package: [name for name in distributions if normalized(name) in locked]
        for package, distributions in metadata.packages_distributions().items()
        if package in OUR_PACKAGES
    }
    assert {package: names for package, names in claims.items() if names} == {}


def test_no_module_of_the_standard_library_has_a_package_name_of_ours() -> None:
    assert set(sys.stdlib_module_names) & OUR_PACKAGES == set()


def test_what_running_installs_is_part_of_what_testing_installs() -> None:
    everything = pins("test")
    assert pins("run").items() <= everything.items()


def test_the_lock_files_pin_every_direct_dependency_with_hashes_and_name_no_host() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {normalized(re.split(r"[^\w.-]", line)[0]) for line in project["dependencies"]}
    assert wanted <= pins("run").keys()
    for extra in project["optional-dependencies"].values():
        assert {normalized(re.split(r"[^\w.-]", line)[0]) for line in extra} <= pins("test").keys()
    for name in ("run", "test"):
        text = (ROOT / "requirements" / f"{name}.lock").read_text()
        assert "://" not in text
        entries = re.split(r"\n(?=[a-z])", text)
        assert all("--hash=sha256:" in entry for entry in entries if PIN.match(entry))


def test_every_folder_with_code_is_a_package_that_the_project_installs() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    installed = {pattern.rstrip("*") for pattern in found["packages"]["find"]["include"]}
    assert folders - {"tests", "bench"} == installed


def test_the_npm_lock_files_hold_a_digest_for_each_package_and_no_address_to_fetch_it_from() -> (
    None
):
    for folder in ("gateway/graphiql", "tests/outside/node"):
        lock = json.loads((ROOT / folder / "package-lock.json").read_text())
        packages = {name: entry for name, entry in lock["packages"].items() if name}
        assert [name for name, entry in packages.items() if "resolved" in entry] == []
        assert [name for name, entry in packages.items() if "integrity" not in entry] == []

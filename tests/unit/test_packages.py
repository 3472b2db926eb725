"""The project's folders are its packages: no dependency may bring a package of the same name."""

import ast
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
    "pinway",
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


def imported(*folders: str) -> set[str]:
    """The distributions whose modules the code in these folders imports, wherever in a file."""
    providers = metadata.packages_distributions()
    modules: set[str] = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    modules -= OUR_PACKAGES | {"bootstrap", "checkout"} | sys.stdlib_module_names
    return {normalized(providers.get(module, [module])[0]) for module in modules}


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


def test_what_the_code_imports_is_locked_and_running_needs_no_more_than_its_own_lock() -> None:
    assert imported(*OUR_PACKAGES) - pins("test").keys() == set()
    needed = imported("gateway", "schema", "resolvers", "loaders", "feed_engine")
    assert needed - pins("run").keys() == set()


def test_every_folder_with_code_is_a_package_that_the_project_installs() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    setup = ast.parse((ROOT / "setup.py").read_text())
    [installed] = [
        ast.literal_eval(node.value)
        for node in setup.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PACKAGES"
    ]
    assert folders - {"pinway", "tests", "bench", "checkout"} == set(installed)


def test_the_npm_lock_files_hold_a_digest_for_each_package_and_no_address_to_fetch_it_from() -> (
    None
):
    for folder in ("graphiql", "web", "tests/outside/node"):
        lock = json.loads((ROOT / folder / "package-lock.json").read_text())
        packages = {name: entry for name, entry in lock["packages"].items() if name}
        assert [name for name, entry in packages.items() if "resolved" in entry] == []
        assert [name for name, entry in packages.items() if "integrity" not in entry] == []

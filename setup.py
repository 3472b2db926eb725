"""Builds the compiled modules if there is a C compiler. Pinway runs without them, more slowly.

The environment variable PINWAY_COMPILED=0 skips them. Each `.pyx` is compiled, and each `.py` with
a `.pxd` beside it, which declares its C types.

A wheel has the packages below `pinway`, so that they don't collide with other projects' packages
(PyPI has a popular one named `schema`). Modules keep their names: the package `pinway` has the
commands, which put its folder on the path.
"""

import os
import sys
from multiprocessing import get_start_method
from pathlib import Path
from runpy import run_path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

HOME = "pinway"
PACKAGES = ("gateway", "schema", "resolvers", "loaders", "datasources", "feed_engine", "deploy")
DATA = {
    "gateway": ["static/**", "demo/files/**", "demo/stores.tar.xz"],
    "schema": ["schema.graphql"],
    "deploy": [
        *("hbase/*.xml", "hbase/*.options", "hbase/*.properties"),
        *("opensearch/*.xml", "opensearch/*.yml", "opensearch/*.options"),
        *("opensearch/*.properties", "opensearch/*.policy"),
    ],
}
SOURCES = run_path("loaders/digest.py")
DIGEST = Path("loaders/compiled.digest")
# With -O3, compiling takes a quarter longer, and nothing in bench/execution is faster.
FLAGS = ["-O2", "-g0", "-fno-plt", "-Werror=incompatible-pointer-types"]
# GCC 12 reports a false -Warray-bounds in Cython's conversion of integers.
FLAGS += ["-Wno-array-bounds"]


def sources():
    for folder in SOURCES["PACKAGES"]:
        for path in sorted(Path(folder).rglob("*.p[xy][dx]")):
            source = path.with_suffix(".py")
            if path.suffix == ".pyx":
                yield path
            elif source.exists():
                yield source


def extensions():
    if os.environ.get("PINWAY_COMPILED") == "0":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    flags = [] if sys.platform == "win32" else FLAGS
    return cythonize(
        [
            Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=flags)
            for path in sorted(sources(), key=lambda path: -path.stat().st_size)
        ],
        build_dir="build",
        nthreads=os.cpu_count() if get_start_method() == "fork" else 0,  # others import this file
        quiet=True,
        compiler_directives={
            "language_level": 3,
            "annotation_typing": False,  # annotations are for mypy: they don't become C types
            "nonecheck": True,
        },
    )


class AllOrNone(build_ext):
    """Installs all compiled modules or none. They use each other, so they need each other."""

    def finalize_options(self):
        super().finalize_options()
        if not self.inplace:
            self.build_lib = os.path.join(self.build_lib, HOME)

    def copy_extensions_to_source(self):
        """Put the compiled modules beside their sources. A process that starts meanwhile finds
        another digest than that of the sources, and uses the sources."""
        DIGEST.write_text("unfinished")
        super().copy_extensions_to_source()
        DIGEST.write_text(SOURCES["digest"](Path()))

    def run(self):
        try:
            super().run()
        except Exception as error:
            print(f"not compiled: {error}", file=sys.stderr)
            self.extensions = self.distribution.ext_modules = []
            for path in sources():
                for built in path.parent.glob(f"{path.stem}.*.so"):
                    built.unlink()


found = find_packages(include=[name for top in PACKAGES for name in (top, f"{top}.*")])
setup(
    packages=[HOME, *(f"{HOME}.{name}" for name in found)],
    package_dir={HOME: HOME, **{f"{HOME}.{name}": name for name in PACKAGES}},
    package_data={f"{HOME}.{name}": patterns for name, patterns in DATA.items()},
    ext_modules=extensions(),
    cmdclass={"build_ext": AllOrNone},
    options={"build_ext": {"parallel": True}},
)

"""Builds the compiled parts if there is a C compiler. All works without them, slower.

PINWAY_COMPILED=0 in the environment does without them. Compiled are each `.pyx`, and each
`.py` with a `.pxd` beside it, which says what is C's in it.
"""

import os
import sys
from hashlib import sha256
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FLAGS = ["-O3", "-g0", "-fno-plt", "-Werror=incompatible-pointer-types"]


def sources():
    for folder in ("gateway", "loaders"):
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
            for path in sources()
        ],
        build_dir="build",
        quiet=True,
        compiler_directives={
            "language_level": 3,
            "annotation_typing": False,  # a list to a type checker may be any sequence
            "nonecheck": True,
        },
    )


def digest():
    """As loaders/compiled.py has it, which compares."""
    text = sha256()
    for folder in ("gateway", "loaders"):
        for path in sorted(Path(folder).rglob("*.p[xy][dx]")):
            for source in (path, path.with_suffix(".py")):
                if source.exists():
                    text.update(source.read_bytes())
    return text.hexdigest()


class AllOrNone(build_ext):
    """They refer to each other: if one module can't be built, none is installed."""

    def run(self):
        try:
            super().run()
            if self.inplace:
                Path("loaders/compiled.digest").write_text(digest())
        except Exception as error:
            print(f"not compiled: {error}", file=sys.stderr)
            self.extensions = self.distribution.ext_modules = []
            for path in sources():
                for built in path.parent.glob(f"{path.stem}.*.so"):
                    built.unlink()


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": AllOrNone},
    options={"build_ext": {"parallel": True}},
)

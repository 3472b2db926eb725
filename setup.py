"""Builds the compiled parts if there is a C compiler. All works without it, slower."""

import sys

from setuptools import Extension, setup

SOURCES = (
    "gateway/execution/driven.pyx",
    "gateway/execution/written.pyx",
    "loaders/promised.pyx",
)


def extensions():
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    flags = [] if sys.platform == "win32" else ["-O3"]
    made = cythonize(
        [
            Extension(source[: -len(".pyx")].replace("/", "."), [source], extra_compile_args=flags)
            for source in SOURCES
        ],
        build_dir="build",
    )
    for extension in made:
        extension.optional = True  # which cythonize does not pass on
    return made


setup(ext_modules=extensions())

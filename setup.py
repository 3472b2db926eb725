"""Builds the compiled part if there is a C compiler. All works without it, slower."""

import sys

from setuptools import Extension, setup

SOURCE = "gateway/execution/written.pyx"


def extensions():
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    flags = [] if sys.platform == "win32" else ["-O3"]
    name = SOURCE[: -len(".pyx")].replace("/", ".")
    made = cythonize([Extension(name, [SOURCE], extra_compile_args=flags)], build_dir="build")
    for extension in made:
        extension.optional = True  # which cythonize does not pass on
    return made


setup(ext_modules=extensions())

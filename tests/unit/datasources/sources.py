"""The Python source of a module that may be compiled."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]


def python_source(name: str) -> ModuleType:
    """A module of its own, from the source of the module `name`."""
    spec = spec_from_file_location(f"source_of.{name}", ROOT / f"{name.replace('.', '/')}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""The distributions of the checkout, built once for all tests."""

from pathlib import Path

import pytest

from tests.packaging.builds import sdist, wheel


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    return sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def plain(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for machines without a C compiler: one for all Pythons."""
    return wheel(source, tmp_path_factory.mktemp("plain"), compiled=False)


@pytest.fixture(scope="session")
def compiled(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for this Python, with the modules that the checkout's environment compiled."""
    return wheel(source, tmp_path_factory.mktemp("compiled"), compiled=True)

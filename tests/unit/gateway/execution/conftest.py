"""Fixtures for tests of the fast path's attempts."""

import pytest

from gateway.execution.fused.attempts import Subtree
from loaders.compiled import WANTED

collect_ignore = [] if WANTED else ["test_layout.py", "test_subtrees.py", "test_written.py"]
"""The tests of the fast path, which exists only as compiled code, are not collected without it."""


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the types at the roots of the attempts that were given up, in order."""
    found: list[str] = []
    give_up = Subtree.give_up

    def noted(subtree: Subtree) -> None:
        found.append(subtree.root.selection.type.name)
        give_up(subtree)

    monkeypatch.setattr(Subtree, "give_up", noted)
    return found

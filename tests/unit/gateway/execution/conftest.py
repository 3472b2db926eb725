"""Fixtures that the tests of subtree attempts share."""

import pytest

from gateway.execution.fused.attempts import Subtree
from loaders.compiled import WANTED

collect_ignore = [] if WANTED else ["test_layout.py", "test_subtrees.py", "test_written.py"]
"""Tests of the fast path, which exists as compiled code alone."""


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types of which subtrees were given up."""
    found: list[str] = []
    give_up = Subtree.give_up

    def noted(subtree: Subtree) -> None:
        found.append(subtree.root.selection.type.name)
        give_up(subtree)

    monkeypatch.setattr(Subtree, "give_up", noted)
    return found

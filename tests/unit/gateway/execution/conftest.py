"""What tests of attempts at subtrees share."""

import pytest

from gateway.execution.attempts import Attempt


@pytest.fixture
def given_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The types of which subtrees were given up."""
    found: list[str] = []
    give_up = Attempt._give_up

    def noted(attempt: Attempt) -> None:
        found.append(attempt.subtree.root.selection.type.name)
        give_up(attempt)

    monkeypatch.setattr(Attempt, "_give_up", noted)
    return found

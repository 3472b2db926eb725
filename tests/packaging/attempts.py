"""Runs Pinway, as installed in an environment, embedded in an empty directory."""

from pathlib import Path

from tests.packaging.builds import run
from tests.serving import serving

HOME = "{ viewer { username } homeFeed(first: 3) { edges { node { image { url } } } } }"
WHICH = (
    "import gateway.server.protocol, sys; print(*sorted(name for name, module in "
    "sys.modules.items() if str(getattr(module, '__file__', '')).endswith('.so') "
    "and name.startswith(('gateway.', 'loaders.'))))"
)


def attempt(python: Path | str, folder: Path, *, compiled: bool) -> None:
    """Start `pinway run` with an interpreter whose environment has Pinway, with or without compiled
    code; ask it for the home feed; stop it. Raises AssertionError."""
    empty = folder / "empty"
    empty.mkdir()
    taken = run(str(python), "-c", WHICH, cwd=empty).split()
    assert bool(taken) is compiled, taken
    with serving(folder / "data", python=str(python), cwd=empty) as served:
        answer = served.ask(HOME)
        assert "errors" not in answer, answer
        assert len(answer["data"]["homeFeed"]["edges"]) == 3, answer
        assert served.stop() == 0
    assert not list(empty.iterdir())

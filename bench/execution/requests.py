"""The requests for a load, and their expected answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.execution.data import VIEWERS, body, expected


@dataclass(frozen=True)
class Request:
    authorization: str
    body: bytes


@dataclass(frozen=True)
class Workload:
    """A load. `check(n, answer)` raises AssertionError for a wrong answer to request n."""

    requests: Sequence[Request]
    check: Callable[[int, bytes], None]

    def write(self, path: Path) -> None:
        """Write the requests in the form that wrk.lua reads."""
        lines = (f"{each.authorization}\n{each.body.decode()}\n" for each in self.requests)
        path.write_text("".join(lines))


def feed_pages(first: int) -> Workload:
    """A page of each viewer's feed."""
    request = body(first)

    def check(viewer: int, answer: bytes) -> None:
        wanted = expected(viewer, first)
        assert answer == wanted, f"viewer {viewer} got {answer[:300]!r}, not {wanted[:300]!r}"

    return Workload([Request(f"Bearer {viewer}", request) for viewer in range(VIEWERS)], check)

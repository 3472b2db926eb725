"""People's real saves, split into what a walk may know and what it should find.

The set is HetRec 2011 Last.fm (I. Cantador, P. Brusilovsky, T. Kuflik: 2nd Workshop on Information
Heterogeneity and Fusion in Recommender Systems, RecSys 2011), which GroupLens publishes for
research, not for commercial use. A user's tag is a board, an artist is a pin. The folder has
`saves.tsv.gz`: user, pin, tag and date, and `follows.tsv.gz`: user and followed user, separated by
tabs.

For each user the last 20% of the pins, by the date of the first save, are what a feed should have
shown. Users with at least 5 pins before are judged. A ranking is judged without what the user had.
"""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TOP = 50
LEAST = 5  # pins of a judged user before the split
BEFORE = 0.8  # the share of a user's pins before the split, where nothing else is said

Rank = Callable[[int], NDArray[np.float64]]
"""A score for each pin, for a user."""


class Quality(NamedTuple):
    """Over the first 50: normalized discounted cumulative gain, the share of users with a hit,
    recall, and the share of all pins that anybody is shown."""

    ndcg: float
    hits: float
    recall: float
    coverage: float


class Saves:
    """The saves before the split: `history` (user → pins, newest first), `counts` (pin → users who
    saved it), `boards` (board → pins) and `dates` ((board, pin) → day); and what each user saved
    later (`later`). `before`: the share of a user's pins before the split."""

    def __init__(self, folder: Path, before: float = BEFORE) -> None:
        lines = _lines(folder / "saves.tsv.gz")
        users = _users(lines)
        pins = {pin: n for n, pin in enumerate(sorted({int(line[1]) for line in lines}))}
        rows = sorted((r[3], users[int(r[0])], pins[int(r[1])], int(r[2])) for r in lines)
        first: dict[tuple[int, int], str] = {}
        for date, user, pin, _ in rows:
            first.setdefault((user, pin), date)
        saved: dict[int, list[int]] = {}
        for user, pin in sorted(first, key=lambda key: first[key]):
            saved.setdefault(user, []).append(pin)
        self.pins = len(pins)
        self.history = {u: some[: int(before * len(some))][::-1] for u, some in saved.items()}
        self.later = {u: set(some[int(before * len(some)) :]) for u, some in saved.items()}
        self.judged = [
            u for u, some in self.history.items() if self.later[u] and len(some) >= LEAST
        ]
        self.judged.sort()
        self.counts = np.zeros(self.pins)
        for some in self.history.values():
            self.counts[some] += 1
        had = {user: set(some) for user, some in self.history.items()}
        numbers: dict[tuple[int, int], int] = {}
        self.boards: list[list[int]] = []
        self.dates: dict[tuple[int, int], int] = {}
        for date, user, pin, tag in rows:
            if pin not in had[user]:
                continue
            board = numbers.setdefault((user, tag), len(self.boards))
            if board == len(self.boards):
                self.boards.append([])
            if (board, pin) not in self.dates:
                self.dates[board, pin] = int(
                    np.datetime64(date).astype("datetime64[D]").astype(int)
                )
                self.boards[board].append(pin)

    def judge(self, rank: Rank, users: Sequence[int]) -> Quality:
        gains, hits, recalls, shown = [], [], [], set[int]()
        for user in users:
            scores = np.array(rank(user), np.float64)
            scores[self.history[user]] = -np.inf
            top = np.argsort(-scores, kind="stable")[:TOP].tolist()
            shown.update(top)
            found = [pin in self.later[user] for pin in top]
            worth = 1 / np.log2(np.arange(TOP) + 2)
            gains.append(worth[found].sum() / worth[: len(self.later[user])].sum())
            hits.append(any(found))
            recalls.append(sum(found) / len(self.later[user]))
        numbers = (float(np.mean(some)) for some in (gains, hits, recalls))
        return Quality(*numbers, len(shown) / self.pins)


def read_follows(folder: Path) -> dict[int, set[int]]:
    """User → the users whom they follow, by the numbers of `Saves`."""
    users = _users(_lines(folder / "saves.tsv.gz"))
    found: dict[int, set[int]] = {}
    for user, followed in _lines(folder / "follows.tsv.gz"):
        if int(user) in users and int(followed) in users:
            found.setdefault(users[int(user)], set()).add(users[int(followed)])
    return found


def _lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def _users(lines: list[list[str]]) -> dict[int, int]:
    """User → their number."""
    return {user: n for n, user in enumerate(sorted({int(line[0]) for line in lines}))}

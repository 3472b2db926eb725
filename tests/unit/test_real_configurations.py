"""Runs on the same servers (tests/real/configurations.py)."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deploy.stack import Stack
from tests.contract import shards
from tests.real.configurations import FIRST, MOST, RUNS, first_shard


def test_runs_on_the_same_servers_have_different_shards(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        firsts = sorted(pool.map(lambda _: first_shard(Stack(tmp_path)), range(100)))
    assert min(after - first for first, after in itertools.pairwise(firsts)) >= MOST
    assert firsts[-1] < FIRST + MOST * RUNS <= shards.FIRST

"""Adversaries against a board in SQLite; tests/real has the same against MySQL."""

import pytest

from bench.order.simulation import ADVERSARIES, Adversary
from datasources.protocols import Stores
from feed_engine import writes
from tests.adversaries import Jobs, attack
from tests.scale import scaled

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("jobs", ["at work", "at once", "held back", "killed"])
@pytest.mark.parametrize("adversary", ADVERSARIES)
async def test_moves_never_fail_and_rewrite_few_rows(
    stores: Stores, adversary: Adversary, jobs: Jobs
) -> None:
    name = f"a{ADVERSARIES.index(adversary)}{jobs.replace(' ', '')}"
    owner = await writes.sign_up(stores, writes.NewUser(username=name))
    await attack(stores, owner.id, 3_000, scaled(120, 250), adversary, jobs)

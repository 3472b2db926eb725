"""Adversaries against a board in MySQL."""

from collections.abc import AsyncIterator

import pytest

from bench.order.simulation import ADVERSARIES, Adversary
from deploy.stack import Stack
from feed_engine import writes
from tests.adversaries import Jobs, attack
from tests.gateways import Gateway, gateway_on
from tests.real.configurations import first_shard, real_settings
from tests.scale import nightly_unless

pytestmark = pytest.mark.anyio
JOBS: tuple[Jobs, ...] = ("at work", "held back", "killed")
SOME = [
    pytest.param(
        adversary,
        jobs,
        id=f"{adversary}-{jobs}",
        marks=nightly_unless(ADVERSARIES.index(adversary) == JOBS.index(jobs)),
    )
    for adversary in ADVERSARIES
    for jobs in JOBS
]
"""Each adversary and each way of the jobs. `make test` has all pairs against SQLite
(tests/stores/feed_engine/writes), and here each once."""


@pytest.fixture(scope="module")
async def gateway(
    stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Gateway, int]]:
    first = first_shard(stack)
    settings = real_settings(stack, tmp_path_factory.mktemp("adversaries"), first)
    async with gateway_on(settings) as opened:
        yield opened, first


@pytest.mark.parametrize(("adversary", "jobs"), SOME)
async def test_moves_never_fail_and_rewrite_few_rows(
    gateway: tuple[Gateway, int], adversary: Adversary, jobs: Jobs
) -> None:
    opened, first = gateway
    name = f"a{first}{ADVERSARIES.index(adversary)}{jobs.replace(' ', '')}"
    owner = await writes.sign_up(opened.stores, writes.NewUser(username=name))
    await attack(opened.stores, owner.id, 3_000, 200, adversary, jobs)

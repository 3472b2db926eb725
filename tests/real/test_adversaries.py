"""Adversaries against a board in MySQL."""

from collections.abc import AsyncIterator

import pytest

from bench.order.simulation import ADVERSARIES, Adversary
from deploy.stack import Stack
from feed_engine import writes
from tests.adversaries import Jobs, attack
from tests.gateways import Gateway, gateway_on
from tests.real.configurations import first_shard, real_settings

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def gateway(
    stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Gateway, int]]:
    first = first_shard()
    settings = real_settings(stack, tmp_path_factory.mktemp("adversaries"), first)
    async with gateway_on(settings) as opened:
        yield opened, first


@pytest.mark.parametrize("jobs", ["at work", "held back", "killed"])
@pytest.mark.parametrize("adversary", ADVERSARIES)
async def test_moves_never_fail_and_rewrite_few_rows(
    gateway: tuple[Gateway, int], adversary: Adversary, jobs: Jobs
) -> None:
    opened, first = gateway
    name = f"a{first}{ADVERSARIES.index(adversary)}{jobs.replace(' ', '')}"
    owner = await writes.sign_up(opened.stores, writes.NewUser(username=name))
    await attack(opened.stores, owner.id, 3_000, 200, adversary, jobs)

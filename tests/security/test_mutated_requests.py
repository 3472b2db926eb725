"""Mutated documents and bodies never cause a fault; `python -m bench.abuse` sends very many
more."""

import json
from collections import Counter
from pathlib import Path

import httpx
import pytest

from bench.abuse.attacks.mutants import LARGE, Mutants
from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.settings import Auth, Limits, Settings
from schema import schema
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio
MUTANTS = 400
SECRET = "s" * 32


async def test_no_mutated_request_is_answered_with_a_fault(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        board = await gateway.board("ann", "Board")
        secret = await gateway.board("ann", "Hidden", secret=True)
        pins = [await gateway.pin("ann", board, f"pin {n}") for n in range(5)]
        users = [str(id) for id in gateway.people.values()]
        ids = {"User": users, "Board": [board, secret], "Pin": pins}
        tokens = [Tokens(SECRET, 1).issue(id) for id in gateway.people.values()]
        app = create_site(
            Settings(auth=Auth(secret=SECRET), limits=Limits(rate_cost=0)), gateway.runtime
        ).public
        mutants, statuses = Mutants(schema._schema, ids, tokens), Counter[int]()
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost"
        ) as client:
            for _ in range(MUTANTS):
                mutant = mutants.one()
                answer = await client.request(
                    mutant.method, mutant.target, headers=mutant.headers, content=mutant.body
                )
                assert answer.status_code < 500, mutant
                assert b'"INTERNAL"' not in answer.content, mutant
                statuses[answer.status_code] += 1
    assert statuses[200] > MUTANTS / 3
    assert statuses[400] > MUTANTS / 20


def test_mutants_are_the_same_for_the_same_seed_and_many_are_changed() -> None:
    ids = {"User": ["1"], "Board": ["2"], "Pin": ["3"]}
    first, again, other = (Mutants(schema._schema, ids, ["t"], seed) for seed in (1, 1, 2))
    drawn = [first.one() for _ in range(80)]
    assert drawn == [again.one() for _ in range(80)]
    assert drawn != [other.one() for _ in range(80)]
    assert len({mutant.body for mutant in drawn}) > 60
    large = [m for m in (first.one() for _ in range(1000)) if any(_holds(m.body, t) for t in LARGE)]
    assert large


def _holds(body: bytes, text: str) -> bool:
    return json.dumps(text).encode()[1:-1] in body

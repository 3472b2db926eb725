"""`pinway jobs`, `token` and `backup` beside a gateway that runs on the embedded stores."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import StoreUnavailable
from datasources.protocols import Job
from feed_engine.outbox.jobs import run_job
from gateway.operate import control
from gateway.operate.requests import answer, list_jobs, perform
from gateway.settings import read_settings
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio


async def test_a_job_that_no_retry_cures_is_shown_retried_and_dropped(tmp_path: Path) -> None:
    settings = read_settings(
        options={"data_dir": tmp_path / "data" / ("a long name " * 12), "jobs.run": False}
    )

    async def ask(command: str, **request: Any) -> dict[str, Any]:
        message = {"command": command, **request}
        return dict(await answer(settings, message, lambda progress: None))

    async with embedded_gateway(settings.data_dir) as gateway:
        await gateway.sign_up("ann")
        await gateway.settle()
        serving = control.answering(
            settings.data_dir,
            lambda request, told: perform(settings, gateway.runtime, request, told),
        )
        async with serving:
            poison = Job(2, await post(gateway.stores, 2, "weather", b"{}"))
            good = Job(2, await post(gateway.stores, 2, "change", b"{}"))
            for _ in range(9):
                await run_job(gateway.stores, poison)
            await run_job(gateway.stores, good)  # waits for nothing
            [shown] = (await ask("jobs list", parked=True, limit=9))["jobs"]
            assert (shown["state"], shown["attempts"], shown["due"]) == ("set aside", 8, None)
            assert "unknown kind 'weather'" in shown["reason"]
            assert await ask("jobs show", id=shown["id"]) == shown
            await ask("jobs retry", ids=[shown["id"]])
            [again] = (await ask("jobs list", parked=False, limit=9))["jobs"]
            assert (again["state"], again["attempts"]) == ("waiting", 0)
            await ask("jobs drop", ids=[shown["id"]])
            assert (await ask("jobs list", parked=False, limit=9))["rows"] == 0
            assert (await ask("token", username="Ann"))["token"].startswith("eyJ")
            backup = await ask("backup", folder=str(tmp_path / "backup"))
            assert json.loads((tmp_path / "backup/backup.json").read_text())["files"]
            assert backup["files"] > 20
            with pytest.raises(Exception, match="there is no user 'bob'"):
                await ask("token", username="bob")
        assert not (settings.data_dir / "control.sock").exists()


async def test_jobs_are_listed_while_the_queue_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lanes() -> list[Any]:
        raise StoreUnavailable("queue: it is away")

    async with embedded_gateway(tmp_path) as gateway:
        await post(gateway.stores, 2, "change", b"{}")
        monkeypatch.setattr(gateway.stores.queue, "lanes", lanes)
        found = await list_jobs(gateway.stores, 9, parked=False)
    assert (found["rows"], found["queue"]) == (1, [])
    assert found["queue_fault"] == "queue: it is away"


async def post(stores: Any, shard: int, kind: str, payload: bytes) -> int:
    return int(await stores.shards.objects.transact(shard, lambda tx: tx.post(kind, payload)))

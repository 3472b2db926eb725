"""`pinway train`: judges by what viewers did, installs only better weights, and removes them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from datasources.factory import open_switches
from datasources.file.switches import FileSwitches
from feed_engine.feeds.learning import training
from feed_engine.feeds.learning.learned import NAME, Learned
from feed_engine.feeds.learning.training import Trained
from feed_engine.feeds.settings import Override, Weights
from gateway.cli import main
from gateway.cli.output import FOUND
from gateway.settings import read_settings
from gateway.site import learned_weights
from gateway.site.embedded_stores import topology_url
from gateway.site.runtime import running
from tests.gateways import embedded_gateway

LEARNED = Learned(0.75, 0.25, 1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The directory of embedded stores that no gateway has open."""

    async def made() -> None:
        async with embedded_gateway(tmp_path / "data"):
            pass

    asyncio.run(made())
    return tmp_path / "data"


class Watched(Override):
    """An override that tells its changes."""

    changes: asyncio.Queue[Weights | None]

    def __setattr__(self, name: str, value: Any) -> None:
        if "changes" not in self.__dict__:
            self.__dict__["changes"] = asyncio.Queue()
        super().__setattr__(name, value)
        self.changes.put_nowait(value)


def pinway(data: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*arguments, "--data-dir", str(data)])
    return done.exit_code, done.output


def weights(data: Path) -> Weights:
    """The weights of a gateway that starts now."""

    async def read() -> Weights:
        settings = read_settings(options={"data_dir": data})
        async with running(settings, jobs=False) as runtime:
            return runtime.feeds.weights

    return asyncio.run(read())


def test_without_actions_nothing_is_installed_and_the_status_says_so(data: Path) -> None:
    status, output = pinway(data, "train")
    assert status == FOUND
    assert "no visit has examples yet: nothing is installed" in output
    assert weights(data) == Weights()
    _, output = pinway(data, "train", "--json")
    found = json.loads(output[output.index("{") :])
    assert [found[name] for name in ("formula", "learned", "low", "high")] == [None] * 4


def test_better_weights_are_installed_used_and_removed(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = Weights(0.75, 0.25)
    told = Trained(
        better, "the learned order is better than the formula's", better, 0.6, 0.7, 0.05, 0.15
    )
    monkeypatch.setattr(training, "train", lambda *_, **__: told._replace(pairs=9, viewers=2))
    status, output = pinway(data, "train", "--dry-run")
    assert (status, weights(data)) == (0, Weights())
    assert "formula: affinity 0.5, likes 0.5; AUC 0.6000" in output
    assert "learned: affinity 0.75, likes 0.25; AUC 0.7000" in output
    assert output.strip().endswith("better than the formula's: nothing is installed")
    status, output = pinway(data, "train", "--json")
    assert status == 0
    found: dict[str, Any] = json.loads(output[output.index("{") :])
    assert (found["installed"], found["pairs"]) == (True, 9)
    assert weights(data) == better
    assert pinway(data, "train", "--remove")[0] == 0
    assert weights(data) == Weights()


def test_damaged_weights_mean_the_settings_weights(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = read_settings(options={"data_dir": data})
    switches = open_switches(topology_url(settings))
    asyncio.run(switches.change({NAME: '{"affinity": "much"}'}))
    assert weights(data) == Weights()
    assert "the learned weights are damaged" in caplog.text


@pytest.mark.anyio
async def test_running_gateways_follow_a_change(tmp_path: Path) -> None:
    switches, override = FileSwitches(tmp_path / "switches.json", poll=0.001), Watched()
    following = asyncio.create_task(learned_weights.follow(switches, override))
    for learned in (LEARNED, None):
        await learned_weights.install(switches, learned)
        expected = None if learned is None else learned.weights
        async with asyncio.timeout(60):
            while await override.changes.get() != expected:
                pass
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)

"""Created data that is missing: every command refuses, says what to do, and creates nothing."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main


def pinway(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("made") / "data"
    assert pinway("init", "--data-dir", str(data)).exit_code == 0
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    """Embedded stores that were created."""
    return Path(shutil.copytree(made, tmp_path / "data"))


@pytest.mark.parametrize(
    ("lost", "store"),
    [
        ("shards/db00003.sqlite", "shards"),
        ("feeds/standby", "feeds_standby"),
        ("valkey", "queue"),
    ],
)
def test_lost_data_stops_each_command_until_its_loss_is_accepted(
    data: Path, lost: str, store: str
) -> None:
    path = data / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    for command in (["init"], ["export", "-"]):
        refused = pinway(*command, "--data-dir", str(data))
        assert refused.exit_code == 1
        [line] = refused.output.splitlines()
        name = "pools" if store.startswith("feeds") else store
        assert f"pinway init --accept-loss {name}" in line
        assert Path(lost).stem in line or store == "queue"
        assert store == "queue" or not path.exists()
    accepted = ["--accept-loss", store]
    if store.startswith("feeds"):  # both are in one directory
        accepted += ["--accept-loss", store.replace("feeds", "pools")]
    assert pinway("init", *accepted, "--data-dir", str(data)).exit_code == 0
    assert pinway("export", "-", "--data-dir", str(data)).exit_code == 0


def test_data_that_an_older_version_made_goes_onto_the_list(data: Path) -> None:
    (data / "topology.json.switches").unlink()  # an older version has not written it
    assert pinway("export", "-", "--data-dir", str(data)).exit_code == 0
    (data / "shards/db00003.sqlite").unlink()
    refused = pinway("init", "--data-dir", str(data))
    assert (refused.exit_code, "db00003 at" in refused.output) == (1, True)

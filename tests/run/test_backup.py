"""The restore drill: a backup of stores that are written to, restored as of one moment."""

import asyncio
import itertools
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.operate import backup
from gateway.operate.requests import perform
from gateway.settings import read_settings
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
BOARDS = """query($n: String!, $after: String) { user(username: $n) {
  boards(first: 100, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } }
} }"""


def pinway(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


async def boards(gateway: Gateway, name: str) -> set[int]:
    """The numbers of a user's boards."""
    found, after = set[int](), None
    while True:
        page = (await gateway.data(BOARDS, n=name, after=after))["user"]["boards"]
        found |= {int(edge["node"]["name"]) for edge in page["edges"]}
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


async def test_a_backup_under_writes_has_one_moment_of_all_shards(tmp_path: Path) -> None:
    names = ("ann", "bob", "cat")
    picture = "pictures/files/140943646785537/c0ffee/236.webp"
    acknowledged = itertools.count()
    last = -1
    async with embedded_gateway(tmp_path / "data") as gateway:
        await gateway.sign_up(*names)
        assert len({id >> 46 for id in gateway.people.values()}) > 1  # on several shards
        assert gateway.stores.pictures is not None
        await gateway.stores.pictures.put(picture.removeprefix("pictures/files/"), b"a picture")

        async def write() -> None:
            nonlocal last
            for number in acknowledged:  # each write begins after the one before was acknowledged
                await gateway.board(names[number % 3], str(number))
                last = number

        writer = asyncio.create_task(write())
        settings = read_settings(options={"data_dir": tmp_path / "data"})
        moments = []
        for name in ("one", "two"):
            while last < 5 or (moments and last <= moments[-1][1] + 5):  # noqa: ASYNC110
                await asyncio.sleep(0)
            before = last
            request = {"command": "backup", "folder": str(tmp_path / name)}
            await perform(settings, gateway.runtime, request, lambda progress: None)
            moments.append((before, last))
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)
    assert moments[0][1] > moments[0][0]  # writers continued in between

    shutil.rmtree(tmp_path / "data")
    for name, (before, after) in zip(("one", "two"), moments, strict=True):
        data = tmp_path / f"restored {name}"
        restored = pinway("restore", str(tmp_path / name), "--data-dir", str(data), "--json")
        assert restored.exit_code == 0, restored.output
        assert (data / picture).read_bytes() == b"a picture"
        async with embedded_gateway(data) as gateway:
            found = {n for person in names for n in await boards(gateway, person)}
            assert found == set(range(max(found) + 1))  # no write without the writes before it
            assert before <= max(found) <= after + 1
            await gateway.settle()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory, and its backup."""
    folder = tmp_path_factory.mktemp("made")
    assert pinway("init", "--data-dir", str(folder / "data")).exit_code == 0
    done = pinway("backup", str(folder / "backup"), "--data-dir", str(folder / "data"), "--json")
    assert done.exit_code == 0, done.output
    return folder


def test_a_backup_keeps_the_signing_key_and_leaves_out_queue_and_caches(made: Path) -> None:
    listed = json.loads((made / "backup/backup.json").read_text())["files"]
    assert {"topology.json", "topology.json.switches", "shards/db00000.sqlite"} <= set(listed)
    assert any(name.startswith("feeds/standby/") for name in listed)
    assert not any("valkey" in name for name in listed)
    assert backup.read(made / "backup").bytes == sum(f["bytes"] for f in listed.values())


def test_a_restore_refuses_the_backup_of_a_shard_server_and_names_its_command(
    tmp_path: Path,
) -> None:
    (tmp_path / "001/base").mkdir(parents=True)
    (tmp_path / "001/backup.json").write_text('{"server": "A", "files": {"ibdata1": "0"}}')
    done = pinway("restore", str(tmp_path / "001"), "--data-dir", str(tmp_path / "data"))
    assert done.exit_code == 1
    assert "is a backup of a shard server: `pinway shards restore` restores it" in done.output


def test_a_restore_refuses_what_is_not_empty_and_makes_nothing(made: Path) -> None:
    before = sorted((made / "data").iterdir())
    done = pinway("restore", str(made / "backup"), "--data-dir", str(made / "data"))
    assert (done.exit_code, "is not empty" in done.output) == (1, True)
    assert sorted((made / "data").iterdir()) == before


@pytest.mark.parametrize("harm", ["changed", "lost"])
def test_a_restore_refuses_a_damaged_backup_and_leaves_nothing(
    made: Path, tmp_path: Path, harm: str
) -> None:
    damaged = Path(shutil.copytree(made / "backup", tmp_path / "backup"))
    path = damaged / "shards/db00003.sqlite"
    path.unlink() if harm == "lost" else path.write_bytes(path.read_bytes()[:-1] + b"x")
    done = pinway("restore", str(damaged), "--data-dir", str(tmp_path / "data"))
    assert done.exit_code == 1
    assert "db00003.sqlite" in done.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["backup"]


def test_a_backup_that_exists_is_not_written_over(made: Path) -> None:
    done = pinway("backup", str(made / "backup"), "--data-dir", str(made / "data"))
    assert (done.exit_code, "exists already" in done.output) == (1, True)


def test_servers_are_not_backed_up_by_this_command(tmp_path: Path) -> None:
    config = tmp_path / "pinway.toml"
    config.write_text('stores.feeds_primary = "hbase://127.0.0.1:9090"\n')
    done = pinway("backup", str(tmp_path / "backup"), "--config", str(config))
    assert (done.exit_code, "feeds_primary are servers" in done.output) == (1, True)

"""The embedded stores, wherever their data directory is."""

from pathlib import Path
from stat import S_IMODE

import pytest

from gateway.settings import read_settings
from tests.gateways import embedded_gateway, gateway_on

pytestmark = pytest.mark.anyio


async def test_a_data_directory_may_have_any_name(tmp_path: Path) -> None:
    directory = tmp_path / "what? 100% #mine & ünïcode"
    async with embedded_gateway(directory) as gateway:
        await gateway.sign_up("ann")
        await gateway.board("ann", "Cats")
    async with embedded_gateway(directory) as gateway:
        found = await gateway.data('{ user(username: "ann") { boardCount } }')
    assert found == {"user": {"boardCount": 1}}
    assert {path.name for path in directory.iterdir()} >= {"shards", "feeds", "valkey"}


async def test_a_data_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir(mode=0o755)
    for directory, mode in ((new, 0o700), (old, 0o755)):
        settings = read_settings(options={"data_dir": directory, "jobs.run": False})
        async with gateway_on(settings):
            assert S_IMODE(directory.stat().st_mode) == mode

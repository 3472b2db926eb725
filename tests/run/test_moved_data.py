"""A data directory is complete: it can be moved or copied, and used at its new place."""

import shutil
from pathlib import Path

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


async def test_a_copied_data_directory_has_shards_of_its_own(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path / "first") as gateway:
        await gateway.sign_up("ann")
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    async with embedded_gateway(tmp_path / "second") as gateway:
        await gateway.sign_up("bob")
        assert [await found(gateway, name) for name in ("ann", "bob")] == ["ann", "bob"]
    async with embedded_gateway(tmp_path / "first") as gateway:
        assert [await found(gateway, name) for name in ("ann", "bob")] == ["ann", None]
    shutil.rmtree(tmp_path / "first")
    async with embedded_gateway(tmp_path / "second") as gateway:
        assert await found(gateway, "bob") == "bob"


async def found(gateway: Gateway, name: str) -> str | None:
    user = (await gateway.data("query($n: String) { user(username: $n) { username } }", n=name))[
        "user"
    ]
    return None if user is None else str(user["username"])

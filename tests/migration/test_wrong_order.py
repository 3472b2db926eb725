"""Commands of `pinway migrate` in a wrong order, with a wrong mapping, and without the source: the
error names what is wrong and what is right, and nothing changes."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import main
from tests.migration.old_world import PASSWORD, ROWS, OldDatabase
from tests.migration.processes import copied, pinway
from tests.proxy import proxied


def migrate(*words: str, data: Path, status: int = 0) -> str:
    """The output of a command that ends by itself, or its error if it is to fail."""
    found = CliRunner(env={"PINWAY_SOURCE_PASSWORD": PASSWORD}).invoke(
        main, ["migrate", *words, "--data-dir", str(data)]
    )
    assert found.exit_code == status, found.output
    return found.stderr if status else found.stdout


@pytest.mark.parametrize(
    "words",
    [("verify",), ("verify", "--repair"), ("follow",), ("cut-over",), ("back",), ("back", "--end")],
)
def test_each_command_after_copy_needs_a_copy_where_it_looks(
    old: OldDatabase, tmp_path: Path, words: tuple[str, ...]
) -> None:
    data = tmp_path / "data"
    command, *options = words
    error = migrate(command, str(old.mapping(tmp_path)), *options, data=data, status=1)
    assert f"there is no copy of old-site in {data}/migrations/old-site" in error
    assert "run pinway migrate copy first, or give the --config and the --data-dir of" in error
    assert not data.exists()


def test_a_mapping_that_was_refused_may_be_mended(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    data = tmp_path / "data"
    wrong = old.mapping(tmp_path, changed={"username: login": "username: logni"})
    assert "did you mean login?" in migrate("copy", str(wrong), data=data, status=1)
    right = str(old.mapping(tmp_path))
    assert "copied 2 users" in migrate("copy", right, "--no-feeds", data=data)
    other = old.mapping(tmp_path, changed={"      about: bio\n": ""})
    assert "has changed since the copy" in migrate("verify", str(other), data=data, status=1)


@pytest.mark.anyio
async def test_a_source_that_is_away_is_told(old: OldDatabase, tmp_path: Path) -> None:
    await asyncio.to_thread(old.run, "USE old", *ROWS)
    file, data = old.mapping(tmp_path), tmp_path / "data"
    async with proxied("127.0.0.1", old.port) as proxy:
        file.write_text(file.read_text().replace(f":{old.port}/old", f":{proxy.port}/old"))
        await asyncio.to_thread(copied, file, data)
        await proxy.cut()
        for command in ("verify", "follow", "cut-over"):
            words = ("migrate", command, str(file))
            error = await asyncio.to_thread(pinway, *words, data=data, status=1)
            assert f"the source 127.0.0.1:{proxy.port}" in error

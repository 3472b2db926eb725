"""The SQL of docs/how-to/analytics.md, run as it is written over a dump of the demo content."""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, chdir
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from datasources import records
from datasources.file import FileTopology
from datasources.ids import Kind, shard_of
from datasources.protocols import ShardTx
from datasources.records import Board, Pin, Record, User
from datasources.sqlite import SqliteShards
from gateway.cli import main
from gateway.operate.dumps.manifest import NAME
from tests.demo import copy_demo
from tests.pinway_process import ROOT

pytestmark = pytest.mark.anyio
DAY = 86_400_000
PAGE = ROOT / "docs/how-to/analytics.md"


def pinway(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@asynccontextmanager
async def opened(data: Path) -> AsyncIterator[SqliteShards]:
    """The shards of a copied demo."""
    topology = await FileTopology(str(data / "topology.json")).load()
    servers = {"local": f"sqlite://{data / 'shards'}"}
    shards = SqliteShards(type(topology)(1, servers, topology.shards, topology.mod))
    try:
        yield shards
    finally:
        await shards.close()


@pytest.fixture(scope="module")
async def data(filled_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo content, and saves of which no question counts all: a deleted save of a pin that
    nobody else saved, and a new pin that was saved at once."""
    data = copy_demo(filled_demo, tmp_path_factory.mktemp("demo") / "data")
    async with opened(data) as shards:
        rows = await shards.objects.list(Kind.PIN, 0, 100_000)
        pins = [
            pin for id, raw in rows if isinstance(pin := records.decode(Kind.PIN, id, raw), Pin)
        ]
        saved, newest = {pin.source_id for pin in pins}, max(pin.created for pin in pins)
        old = min((pin for pin in pins if pin.id not in saved), key=lambda pin: pin.created)
        assert old.created < newest - 7 * DAY

        async def write(tx: ShardTx) -> None:
            new = replace(old, id=0, created=newest)
            gone = replace(old, id=0, source_id=old.id, created=old.created + 1, active=False)
            encoded = [records.encode(pin) for pin in (new, gone)]
            [id, _] = await tx.insert_many(Kind.PIN, encoded)
            await tx.insert(Kind.PIN, records.encode(replace(new, source_id=id)))

        await shards.objects.transact(shard_of(old.id), write)
    return data


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dump `dump`."""
    folder = tmp_path_factory.mktemp("dumped")
    done = pinway(
        *("dump", "--to", str(folder / "dump"), "--by", "month", "--json"),
        *("--data-dir", str(data)),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    manifest = json.loads((folder / "dump" / NAME).read_bytes())
    assert told["rows"] == sum(part["rows"] for part in manifest["parts"])
    assert (told["faults"], told["tables"], told["moments"]) == (0, 36, 16)
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> list[list[tuple[Any, ...]]]:
    """The answers to the questions of the page, in their order."""
    return asked(folder)


def asked(folder: Path) -> list[list[tuple[Any, ...]]]:
    """The answers to the page's questions about the dump in a folder."""
    _, views, *questions = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(questions) == 3
    with chdir(folder), duckdb.connect() as connection:
        connection.execute(views)
        return [connection.execute(question).fetchall() for question in questions]


def test_a_dump_without_any_row_answers_the_questions(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for command in (("init",), ("dump", "--to", str(tmp_path / "dump"))):
        done = pinway(*command, "--data-dir", str(data))
        assert done.exit_code == 0, done.output
    assert asked(tmp_path) == [[], [], [(0, 0, None)]]


@pytest.fixture
async def stored(data: Path) -> dict[Kind, list[Record]]:
    """All objects that are not deleted, from the shards."""
    found: dict[Kind, list[Record]] = {}
    async with opened(data) as shards:
        for kind in (Kind.USER, Kind.BOARD, Kind.PIN):
            rows = await shards.objects.list(kind, 0, 100_000)
            decoded = [records.decode(kind, id, raw) for id, raw in rows]
            found[kind] = [record for record in decoded if record.active]
    return found


def pins_of(stored: dict[Kind, list[Record]]) -> Iterator[Pin]:
    return (pin for pin in stored[Kind.PIN] if isinstance(pin, Pin))


async def test_pins_and_saves_of_the_last_days(
    answers: list[list[tuple[Any, ...]]], stored: dict[Kind, list[Record]]
) -> None:
    pins = Counter(pin.created // DAY for pin in pins_of(stored))
    saves = Counter(pin.created // DAY for pin in pins_of(stored) if pin.source_id)
    expected = [(pins[day], saves[day]) for day in sorted(pins, reverse=True)[:7]]
    assert [(made, saved) for _, made, saved in answers[0]] == expected
    assert sum(saves.values()) > 0


async def test_the_largest_board_of_each_owner(
    answers: list[list[tuple[Any, ...]]], stored: dict[Kind, list[Record]]
) -> None:
    boards = {board.id: board for board in stored[Kind.BOARD] if isinstance(board, Board)}
    names = {user.id: user.username for user in stored[Kind.USER] if isinstance(user, User)}
    sizes = Counter(pin.board_id for pin in pins_of(stored))
    largest: dict[str, tuple[int, int]] = {}
    for id, board in boards.items():
        owner = names[board.owner_id]
        largest[owner] = min(largest.get(owner, (0, 0)), (-sizes[id], id))
    ranked = sorted((size, name, boards[id].name) for name, (size, id) in largest.items() if size)
    assert answers[1] == [(name, board, -size) for size, name, board in ranked[:10]]


async def test_the_share_of_pins_that_were_saved_within_a_week(
    answers: list[list[tuple[Any, ...]]], stored: dict[Kind, list[Record]]
) -> None:
    newest = max(pin.created for pin in pins_of(stored))
    created = {pin.id: pin.created for pin in pins_of(stored) if pin.created < newest - 7 * DAY}
    saved = {
        pin.source_id
        for pin in pins_of(stored)
        if pin.source_id in created and 0 <= pin.created - created[pin.source_id] <= 7 * DAY
    }
    [(pins, again, percent)] = answers[2]
    assert (pins, again) == (len(created), len(saved))
    assert percent == pytest.approx(100 * len(saved) / len(created), abs=0.06)


def test_a_second_dump_to_the_folder_is_refused_in_one_line(data: Path, folder: Path) -> None:
    done = pinway("dump", "--to", str(folder / "dump"), "--by", "month", "--data-dir", str(data))
    assert done.exit_code == 1
    # A busy machine may make the command say that it waits for the stores.
    [line] = [line for line in done.stderr.splitlines() if "still waiting" not in line]
    assert "has a finished dump" in line
    assert "--replace" in line


def test_a_file_tells_its_schema_table_and_shard(folder: Path) -> None:
    file = next((folder / "dump" / "pins" / "shard=3").rglob("*.parquet"))
    rows = duckdb.sql(f"SELECT key::TEXT, value::TEXT FROM parquet_kv_metadata('{file}')")
    told = dict(rows.fetchall())
    assert told["pinway.schema"] == "3"
    assert (told["pinway.table"], told["pinway.shard"]) == ("pins", "3")
    assert told["pinway.version"]


def test_without_pyarrow_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.dump.find_spec", lambda name: None)
    done = pinway("dump", "--to", str(tmp_path / "dump"), "--data-dir", str(tmp_path))
    assert done.exit_code == 1
    assert "needs the package pyarrow" in done.stderr
    assert "its extra `dump`" in done.stderr
    assert not (tmp_path / "dump").exists()

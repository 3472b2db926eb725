"""Measures the rate at which the graph is built, and the time until a walk finds a new save."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.rows import Row
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.related.build import build
from feed_engine.related.graph import Graph
from gateway.operate.imports.entries import Entry
from gateway.operate.imports.jsonl import AnyLine, BoardLine, PinLine, UserLine, canonical
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import ImportOptions
from gateway.settings import read_settings
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.embedded_stores import embedded_config, embedded_stores

A_BOARD = 50  # pins


def lines(pins: int) -> Iterator[AnyLine]:
    """A user with boards of A_BOARD pins each."""
    yield UserLine(key="u", username="saver")
    for board in range(pins // A_BOARD):
        yield BoardLine(key=f"b{board}", owner="u", name=f"Board {board}")
    for pin in range(pins):
        yield PinLine(
            key=f"p{pin}",
            board=f"b{pin // A_BOARD}",
            title=f"The title of pin {pin}",
            description=f"{pin} " + "described in a hundred and twenty characters " * 3,
            link=f"https://example.org/pins/{pin}",
        )


async def build_rate(folder: Path, pins: int) -> list[Row]:
    """Pins a second of processor time, from reading the shards to the finished file."""
    folder = folder / "shards"
    folder.mkdir()
    async with (
        ValkeyServer(folder) as valkey,
        embedded_stores(embedded_config(folder, valkey)) as stores,
    ):
        entries = (Entry(n, line, canonical(line)) for n, line in enumerate(lines(pins), 1))
        options = ImportOptions(strict=True, feeds=False, spool_dir=str(folder))
        await import_entries(stores, entries, options=options, progress=lambda progress: None)
        began = time.process_time()
        header = await build(stores, folder / "built")
        rate = header.pins / (time.process_time() - began)
    return [Row("building from embedded shards", rate, "pins/s", "", f"{header.pins:,} pins")]


async def seconds_until_found(folder: Path, saves: int) -> list[Row]:
    """Seconds from the acknowledgement of a save until walks of a gateway can find it: its job, its
    entry in the log, and the next look at the log."""
    settings = read_settings(options={"data_dir": folder / "gateway"})
    await install(settings, lambda progress: None)
    took: list[float] = []
    async with running(settings) as runtime:
        stores, walks = runtime.stores, runtime.walks
        assert walks is not None
        user = await writes.sign_up(stores, writes.NewUser(username="saver"))
        board = (await writes.create_board(stores, user.id, writes.NewBoard(name="board"))).board
        await build(stores, walks.path)
        for number in range(saves):
            new = writes.NewPin(board_id=board.id, title=f"pin {number}")
            pin = (await writes.create_pin(stores, user.id, new)).pin
            began = time.perf_counter()

            def there(graph: Graph, pin_id: int = pin.id) -> bool:
                return bool(graph.root_names.known([pin_id])[0] >= 0)

            while not await walks.run(there):  # noqa: ASYNC110 (no event tells it)
                await asyncio.sleep(0.02)
            took.append(time.perf_counter() - began)
    told = f"median {median(took):.2f} s of {saves}, embedded"
    return [Row("until a new pin can be found, longest", max(took), "s", "<= 5", told)]

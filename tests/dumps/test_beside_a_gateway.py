"""A dump of embedded stores that a gateway has open."""

import json
from pathlib import Path

import duckdb
from click.testing import CliRunner

from gateway.cli import main
from tests.dumps.filled_shards import table
from tests.pinway_process import Serving


def test_a_dump_has_what_a_running_gateway_acknowledged(
    demo_gateway: Serving, tmp_path: Path
) -> None:
    created = demo_gateway.ask('mutation { createBoard(input: {name: "Dumped"}) { board { id } } }')
    board = int(created["data"]["createBoard"]["board"]["id"])
    options = ["--by", "year", "--json", "--data-dir", str(demo_gateway.data)]
    done = CliRunner().invoke(main, ["dump", "--to", str(tmp_path / "dump"), *options])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["faults"] == 0
    boards = duckdb.sql(f"SELECT name FROM {table(tmp_path / 'dump', 'boards')} WHERE id = {board}")
    assert boards.fetchall() == [("Dumped",)]
    assert demo_gateway.ask(f'{{ node(id: "{board}") {{ id }} }}')["data"]["node"]

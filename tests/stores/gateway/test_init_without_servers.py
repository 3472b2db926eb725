"""`pinway init` while servers do not answer: one line that names them, and says what to do."""

import json
from pathlib import Path

from click.testing import CliRunner

from gateway.cli import main
from tests.pinway_process import free_port

REMEDY = (
    ": start each of them, or change its address: a shard server's in the topology, any other in "
    "the setting of its name"
)


def topology(port: int) -> str:
    """A topology of one server on a port."""
    ranges = [{"range": [0, 3], "master": "MySQL001A"}]
    return json.dumps(
        {
            "epoch": 1,
            "servers": {"MySQL001A": f"mysql://127.0.0.1:{port}"},
            "shards": ranges,
            "mod": {"count": 4, "ranges": ranges},
        }
    )


def test_each_server_is_named_with_what_to_do(tmp_path: Path) -> None:
    shards, queue, feeds = free_port(), free_port(), [free_port() for _ in range(4)]
    (tmp_path / "seed.json").write_text(topology(shards))
    sides = ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
    settings = {
        "data_dir": str(tmp_path / "data"),
        "stores.topology": f"file://{tmp_path}/topology.json",
        "stores.topology_seed": str(tmp_path / "seed.json"),
        "mysql.user": "pinway",
        "stores.mapping_cache": f"redis://127.0.0.1:{queue}/0",
        "stores.queue": f"redis://127.0.0.1:{queue}/1",
        **{
            f"stores.{side}": f"hbase://127.0.0.1:{port}"
            for side, port in zip(sides, feeds, strict=True)
        },
    }
    config = tmp_path / "pinway.toml"
    config.write_text("".join(f"{name} = {json.dumps(it)}\n" for name, it in settings.items()))
    done = CliRunner().invoke(main, ["init", "--config", str(config)])
    assert done.exit_code == 1, done.output
    last = done.output.splitlines()[-1]
    assert last.startswith("pinway: "), done.output
    assert f"shards MySQL001A at 127.0.0.1:{shards}: Connection refused" in last
    assert f"feeds_primary at 127.0.0.1:{feeds[2]}: Connection refused" in last
    assert last.count("pools_standby at") == 1
    assert last.endswith(REMEDY)


def test_a_queue_alone_is_named_with_what_to_do(tmp_path: Path) -> None:
    config, port = tmp_path / "pinway.toml", free_port()
    config.write_text(
        f'data_dir = "{tmp_path}/data"\nstores.queue = "redis://127.0.0.1:{port}/1"\n'
    )
    done = CliRunner().invoke(main, ["init", "--config", str(config)])
    assert done.exit_code == 1, done.output
    assert done.output.splitlines()[-1] == (
        f"pinway: queue at 127.0.0.1:{port}: Connection refused{REMEDY}"
    )

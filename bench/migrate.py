"""Measures `pinway migrate`: rows a second from a MariaDB server into embedded shards, beside
`mariadb-dump | mariadb` of the same tables in the same minutes, and the way back.

    python -m bench.migrate [--quick]
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.rows import Row, table, write
from deploy.stack import install
from tests.migration.old_world import PASSWORD, SCHEMA, USER, OldDatabase, many
from tests.migration.processes import pinway
from tests.private_mariadb import mariadb

PINS, QUICK, ROUNDS = 20_000, 5_000, 3
TABLES = ("members", "albums", "bookmarks", "likes")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="rough figures; writes no file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="migrate-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with mariadb(folder / "server") as port:
            rows = measured(folder, port, QUICK if asked.quick else PINS)
    print(table(rows))
    if not asked.quick:
        print(f"written to {write('migrate', rows)}")


def measured(folder: Path, port: int, pins: int) -> list[Row]:
    """The measures for `pins` pins, as many albums as a 25th of them, and half as many likes."""
    old = OldDatabase(port)
    old.run(
        "CREATE DATABASE old CHARACTER SET utf8mb4",
        "CREATE DATABASE copy CHARACTER SET utf8mb4",
        f"CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
        f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1'",
        "USE old",
        *SCHEMA,
        *many(members=pins // 100, albums=pins // 25, bookmarks=pins),
        "ALTER TABLE bookmarks MODIFY position INT UNSIGNED",
    )
    file, data = old.mapping(folder), folder / "data"
    total = sum(old.rows(f"SELECT count(*) FROM old.{table}")[0][0] for table in TABLES)
    dumped, copied, read = list[float](), list[float](), list[float]()
    for number in range(ROUNDS):
        dumped.append(total / dump_seconds(port))
        data = folder / f"data{number}"
        began = time.monotonic()
        told = _json("copy", str(file), "--no-feeds", data=data)
        copied.append(total / (time.monotonic() - began))
        read.append(told["rows_per_second"])
    _json("cut-over", str(file), "--within", "60", data=data)
    first = _json("back", str(file), "--until-caught-up", data=data)
    again = _json("back", str(file), "--until-caught-up", data=data)
    versus = f"mariadb-dump | mariadb {median(dumped):,.0f}"
    ratio = median(a / b for a, b in zip(copied, dumped, strict=True))
    return [
        Row("rows", total, ""),
        Row("copied rows a second, the process included", median(copied), "", versus=versus),
        Row("the ratio of the two, in the same minutes", ratio, ""),
        Row("rows a second of the reading pass", median(read), ""),
        Row("way back: rows a second of the first round", first["read"] / first["behind"], ""),
        Row("way back: a later round without changes", again["behind"], "s"),
        Row("way back: rows a second of that round", again["read"] / again["behind"], ""),
    ]


def dump_seconds(port: int) -> float:
    """The seconds of copying the tables to another database of the same server."""
    login = ["--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=root"]
    began = time.monotonic()
    dump = subprocess.Popen(
        [install.tool("mariadb-dump"), *login, "old", *TABLES], stdout=subprocess.PIPE
    )
    subprocess.run([install.tool("mariadb"), *login, "copy"], stdin=dump.stdout, check=True)
    assert dump.wait() == 0
    return time.monotonic() - began


def _json(command: str, *words: str, data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pinway("migrate", command, *words, "--json", data=data))
    return found


if __name__ == "__main__":
    main()

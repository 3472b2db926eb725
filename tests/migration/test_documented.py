"""The commands of docs/how-to/migrate.md work in their order, with the page's own mapping."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked import run
from tests.migration.old_world import PASSWORD, USER, OldDatabase
from tests.pinway_process import ROOT

PAGE = ROOT / "docs/how-to/migrate.md"
TABLES = (
    "CREATE DATABASE old CHARACTER SET utf8mb4",
    "USE old",
    "CREATE TABLE members (id INT PRIMARY KEY, login VARCHAR(80), real_name TEXT, joined DATETIME)",
    "CREATE TABLE albums (id INT PRIMARY KEY, member_id INT, title TEXT, is_public INT, made INT)",
    "CREATE TABLE bookmarks (id INT PRIMARY KEY, album_id INT, headline TEXT, note BLOB, url TEXT, "
    "position INT, deleted INT)",
    "CREATE TABLE likes (member_id INT, bookmark_id INT, PRIMARY KEY (member_id, bookmark_id))",
    "INSERT INTO members VALUES (1, 'ann', 'Ann Lee', '2010-05-01 08:00:00'), (2, '??', '', NULL)",
    "INSERT INTO albums VALUES (1, 1, 'Tea', 1, 1300000000)",
    "INSERT INTO bookmarks VALUES (17, 1, 'Gyokuro', '', 'https://example.org/', 1, 0)",
    "INSERT INTO likes VALUES (1, 17)",
    f"GRANT INSERT, UPDATE, DELETE ON old.* TO '{USER}'@'127.0.0.1'",
    f"GRANT RELOAD, READ ONLY ADMIN ON *.* TO '{USER}'@'127.0.0.1'",
)


@pytest.fixture
def folder(old: OldDatabase, tmp_path: Path) -> Iterator[Path]:
    """A folder with the page's mapping, for a source with the tables that it names."""
    old.run("DROP DATABASE old", *TABLES)
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    text = re.sub("source: .*\n", f"source: mysql://{USER}@127.0.0.1:{old.port}/old\n", text)
    (tmp_path / "migration.yaml").write_text(re.sub("ca: .*\n", "", text))
    (tmp_path / "pinway.toml").write_text('data_dir = ".pinway"\n')
    for site, made in (("pinway", "opened"), ("old-site", "opened-again")):
        opens = tmp_path / f"open-{site}.sh"
        opens.write_text(f"#!/bin/sh\ntouch {made}\n")
        opens.chmod(0o755)
    yield tmp_path
    old.run("SET GLOBAL read_only = OFF")


def test_the_pages_commands_work_in_their_order(folder: Path) -> None:
    lines = re.findall(r"^\$ pinway (.*)$", PAGE.read_text(), re.MULTILINE)
    said = {}
    for line in lines:
        command, *rest = line.split()[1:]
        name = " ".join([command, *({"--compare", "--end"} & {*rest})])
        said[name] = pinway(line, folder)
    assert list(said) == [
        *("check", "preview", "copy", "find", "follow", "verify", "cut-over"),
        *("back", "back --compare", "back --end"),
    ]
    assert "the mapping fits the source" in said["check"]
    assert "4711: not copied" in said["find"]
    assert re.search(
        r"looked at 1 changed rows: \d+\.\d s behind, at binlog\.\d+:\d+", said["follow"]
    )
    assert "equal, 0 differences" in said["verify"]
    assert re.search(r"writes were refused for \d+\.\d+ s", said["cut-over"])
    assert (folder / "opened").exists()
    assert re.search(r"brought 0 rows back: \d+\.\d s behind; 0 changes left out", said["back"])
    assert re.search(r"compared \d+ rows: 0 differences", said["back --compare"])
    assert "the way back has ended: the source takes the writes" in said["back --end"]
    assert (folder / "opened-again").exists()


def pinway(line: str, folder: Path) -> str:
    """The output of a documented command."""
    environment = {"PATH": "/usr/bin:/bin", "PINWAY_SOURCE_PASSWORD": PASSWORD}
    done = run("pinway", *shlex.split(line), environment=environment, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout

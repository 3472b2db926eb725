"""A newcomer types every command of README.md and docs, in their order, after `make run`."""

import gzip
from pathlib import Path

import pytest

from deploy.stack import Stack
from tests.demo import copy_demo
from tests.run.documented_commands import PAGES, Newcomer, documented

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p>
<DT><H3 ADD_DATE="1700000000">Tea</H3>
<DL><p><DT><A HREF="https://example.org/tea" ADD_DATE="1700000001">Gyokuro</A></DL><p>
</DL><p>
"""
WORLD = b'{"type":"user","key":"zoe","username":"zoe"}\n'


@pytest.mark.timeout(1500)
def test_every_documented_command_works(stack: Stack, filled_demo: Path, tmp_path: Path) -> None:
    copy_demo(filled_demo, tmp_path / ".pinway")  # what `make run` left
    (tmp_path / "bookmarks.html").write_text(BOOKMARKS)
    (tmp_path / "world.jsonl.gz").write_bytes(gzip.compress(WORLD))
    newcomer = Newcomer(tmp_path, stack.dir)
    commands = list(documented())
    assert {command.page for command in commands} >= {"README.md", "docs/tutorial.md"}
    failed = {}
    # A line that several pages have is run where it comes first.
    first = {command.line: command for command in reversed(commands)}
    for command in sorted(first.values(), key=commands.index):
        if " import " in command.line:  # an earlier line has exported everything to it
            (tmp_path / "world.jsonl").write_bytes(WORLD)
        if told := newcomer.run(command.line):
            failed[f"{command.page}: {command.line}"] = told
    assert not failed, "\n\n".join(f"{line}\n{told}" for line, told in failed.items())


def test_commands_are_found_on_each_page_that_has_some() -> None:
    found = {command.page for command in documented()}
    assert found <= set(PAGES)
    assert found >= {"README.md", "docs/import.md", "docs/how-to/outage.md"}

"""Links in a browser's trash are counted, and not imported. In HTML, where a user's own folder may
look the same, they go to a secret board."""

import io
import json
from typing import Any

import pytest

from gateway.operate.imports.events import Trashed
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.jsonl import BoardLine, PinLine
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import ImportOptions, ImportReport, summary
from tests.unit.gateway.operate.imports.test_boards import Taken, folder, link

OPTIONS = ImportOptions(format="auto", owner="ann")
HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n"


def taken(text: str) -> tuple[dict[str, list[str]], int]:
    """The titles of the pins by the names of their boards, and the number of trashed links."""
    source = Source(io.BufferedReader(io.BytesIO(text.encode())), None, 7000)
    found = list(source.entries(OPTIONS))
    parsed = [line.parsed for line in found if isinstance(line, Entry)]
    boards = {line.key: line.name for line in parsed if isinstance(line, BoardLine)}
    held: dict[str, list[str]] = {name: [] for name in boards.values()}
    for line in parsed:
        if isinstance(line, PinLine):
            held[boards[line.board]].append(line.title)
    return held, sum(isinstance(line, Trashed) for line in found)


@pytest.mark.parametrize("name", ["Trash", "TRASH", "Papierkorb", "Corbeille", "Корзина", "ゴミ箱"])
def test_the_trash_of_an_html_file_goes_to_secret_boards(name: str) -> None:
    trash = folder(name, link("old"), folder("Secrets", link("diary")), folder("Empty"))
    found = Taken(HEAD + folder("Tea", link("sencha")) + trash + link("loose") + "</DL>")
    secret = {f"{name} (private)": ["old"], f"{name} / Secrets (private)": ["diary"]}
    assert found.boards == {"Tea": ["sencha"], **secret, "Bookmarks": ["loose"]}
    assert found.secret == set(secret)
    assert [fault.message for fault in found.faults] == [
        f"{name!r} may be a browser's trash: its links are treated as private"
    ]


def test_a_folder_of_this_name_within_another_is_kept() -> None:
    held, trashed = taken(HEAD + folder("Bands", folder("Trash", link("song"))) + "</DL>")
    assert held == {"Bands": [], "Bands / Trash": ["song"]}
    assert trashed == 0


def _folder(name: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "folder", "name": name, "children": list(children)}


def _link(name: str) -> dict[str, Any]:
    return {"type": "url", "name": name, "url": f"https://example.com/{name}"}


def test_the_trash_of_vivaldis_json_becomes_no_board_whatever_its_name() -> None:
    roots = {
        "bookmark_bar": _folder("Bookmarks", _folder("Tea", _link("sencha"))),
        "trash": _folder("Müll", _link("old"), _folder("Secrets", _link("diary"))),
        "other": _folder("Other", _link("loose")),
    }
    held, trashed = taken(json.dumps({"checksum": "", "roots": roots, "version": 1}))
    assert held == {"Tea": ["sencha"], "Other": ["loose"]}
    assert trashed == 2


def test_operas_own_folders_are_read_without_its_trash() -> None:
    own = {
        "unsorted": _folder("Unsorted bookmarks", _link("loose")),
        "trash": _folder("Trash", _link("old")),
    }
    roots = {"bookmark_bar": _folder("Bar", _link("tea")), "custom_root": own}
    held, trashed = taken(json.dumps({"checksum": "", "roots": roots, "version": 1}))
    assert held == {"Bar": ["tea"], "Unsorted bookmarks": ["loose"]}
    assert trashed == 1


def test_the_report_counts_the_links() -> None:
    report = ImportReport(new={"pin": 2}, loaded={"pin": 2}, trashed_links=3)
    assert summary(report) == "new: 2 pins; 3 links in the browser's trash left out; 0 bad lines"

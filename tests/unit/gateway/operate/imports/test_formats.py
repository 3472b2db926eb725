"""Files are recognized by their beginning; a file that is not read is refused in one line that says
what it is, and what to import instead."""

import gzip
import io
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import BadInput
from gateway.cli import main
from gateway.operate.imports.backups import read_firefox
from gateway.operate.imports.events import Folder, Link
from gateway.operate.imports.formats import Format, is_plain, recognize

USER = '{"type":"user","key":"u","username":"ann"}'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("\ufeff\n <!DOCTYPE NETSCAPE-Bookmark-file-1>", Format.HTML),
        ("<DL><DT>", Format.HTML),
        ('<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE html>\n<html>', Format.HTML),
        ("My bookmarks\n\n<dl><dt><a href='https://e.x'>", Format.HTML),
        ("\0<DL>", Format.HTML),
        (USER, Format.JSON_LINES),
        ('{"key":"u","type":"user"}\n', Format.JSON_LINES),
        ('{"type":"user",\n', Format.JSON_LINES),
        ("no JSON\n", Format.JSON_LINES),
        ("", Format.JSON_LINES),
        ('{\n  "checksum": "0f",\n  "roots": {', Format.CHROME),
        ('{"guid":"root________","title":"","index":0,"typeCode":2,', Format.FIREFOX),
        ('{"title":"","id":1,"children":[{"type":"text/x-moz-place",', Format.FIREFOX),
        ('[{"href":"https:\\/\\/e.x","description":"x"', Format.JSON_ARRAY),
        ('[\n  {\n    "URL": "https://e.x"', Format.JSON_ARRAY),
        ("url,title\nhttps://e.x,x", Format.CSV),
        ("Title;URL;Added\r\n", Format.CSV),
        ("title\turl\n", Format.CSV),
    ],
)
def test_a_format_is_recognized(head: str, expected: Format) -> None:
    assert recognize(head.encode()) is expected


def test_a_format_is_recognized_in_utf16() -> None:
    assert recognize("<DL>".encode("utf-16")) is Format.HTML
    assert recognize("<DL>".encode("utf-16-be")) is Format.HTML
    assert recognize("url,title\n".encode("utf-16")) is Format.CSV


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("bookmarks.html", "<DL>")
    return file.getvalue()


def places(folder: Path) -> bytes:
    path = folder / "places.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE moz_bookmarks (id INTEGER)")
    return path.read_bytes()


def test_a_file_that_is_not_read_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    refused = {
        "a ZIP archive: unpack it": zipped(),
        "a gzip file: unpack it: zcat": gzip.compress(b"<DL>"),
        "a SQLite database, as a browser keeps it": places(tmp_path),
        "a compressed backup of Firefox": b"mozLz40\0" + b"\x10\0\0\0" + b"x" * 40,
        "a property list, as Safari keeps it": b"bplist00\xd4\1\2\3",
        "bookmarks in XBEL": b'<?xml version="1.0"?>\n<!DOCTYPE xbel PUBLIC "x" "y">\n<xbel>',
        "an OPML file": b'<opml version="2.0"><body>',
        "an RSS feed": b'<?xml version="1.0"?><rss version="2.0">',
        "one JSON array": b'[{"name": "tea"}]',
        "in a line of its own": f"[{USER}]".encode(),
        "one JSON object over many lines": b'{\n  "bookmarks": []\n}',
        "a JSON document of another program": b'{"bookmarks": [{"content": {"url": "x"}}]}',
        "without a column of addresses": b"name,age\nann,30\n",
        "can't be read (Expecting value": b'{"roots": {"other": {"children": [',
        "it is nested too deeply": nested(100_000),
        "the file has no links": b" [\n] \n",
        "binary data": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    }
    for told, content in refused.items():
        file, data = tmp_path / "given", tmp_path / "data"
        file.write_bytes(content)
        command = ["import", str(file), "--as", "ann", "--data-dir", str(data)]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 1, told
        assert told in done.output
        assert len(done.output.splitlines()) == 1, done.output
        assert not data.exists(), told


@pytest.mark.parametrize(
    "content",
    [
        {"roots": {"other": {"type": "folder", "name": "Tea", "children": []}}, "version": 1},
        {"roots": {"other": {"children": [{"type": "folder", "name": "Tea"}]}}},
        {"typeCode": 2, "root": "placesRoot", "children": [{"typeCode": 2, "title": "Tea"}]},
        [],
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL><p></DL>",
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Tea</H3><DL></DL></DL>",
        "url,title,folder\n",
    ],
)
@pytest.mark.parametrize("piped", [False, True])
def test_a_file_without_links_is_refused_and_nothing_is_made(
    tmp_path: Path, content: object, piped: bool
) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    file, data = tmp_path / "given", tmp_path / "data"
    file.write_text(text)
    command = ["import", "-" if piped else str(file), "--as", "ann", "--data-dir", str(data)]
    done = CliRunner().invoke(main, command, input=text if piped else None)
    assert done.exit_code == 1
    assert "the file has no links" in done.output
    assert not any(data.glob("*")), "a data directory was filled"


@pytest.mark.parametrize(
    "content",
    [
        "<DL><DT><H3>Tea</H3><DL><DT><A HREF='javascript:1'>x</A></DL></DL>",
        "url,title\njavascript:1,x\n",
        '[{"url": 5}, {"url": ["https://e.x"]}]',
    ],
)
def test_a_file_without_a_good_link_makes_no_user(tmp_path: Path, content: str) -> None:
    file, data = tmp_path / "given", tmp_path / "data"
    file.write_text(content)
    for _ in range(2):
        done = CliRunner().invoke(
            main, ["import", str(file), "--as", "ann", "--data-dir", str(data)]
        )
        assert done.exit_code == 1, done.output
        assert "left out" in done.output
        assert "no link in the file can be imported" in done.output
        assert "new:" not in done.output
        assert "there" not in done.output


def nested(depth: int) -> bytes:
    inside = '{"typeCode":2,"title":"x","children":['
    return (inside * depth + "]}" * depth).encode()


def test_a_backup_of_an_older_firefox_names_separators_without_codes() -> None:
    kind = "text/x-moz-place"
    given = {
        "title": "",
        "type": f"{kind}-container",
        "root": "placesRoot",
        "children": [
            {"title": "Tea", "type": f"{kind}-container", "children": []},
            {"type": f"{kind}-separator"},
            {"title": "Sencha", "type": kind, "uri": "https://e.x/1"},
        ],
    }
    events = list(read_firefox(io.BytesIO(json.dumps(given).encode())))
    assert [e.path for e in events if isinstance(e, Folder)] == [("Tea",)]
    assert [e.href for e in events if isinstance(e, Link)] == ["https://e.x/1"]


def test_what_is_said_does_not_depend_on_where_the_beginning_ends() -> None:
    head = json.dumps([{"href": "https://e.x", "description": "x" * 9000}]).encode()
    for end in range(12, len(head), 997):
        assert recognize(head[:end]) is Format.JSON_ARRAY
    with pytest.raises(BadInput):
        recognize(b"[1, 2]")


@pytest.mark.parametrize("content", ["https://e.x/1\nhttps://e.x/2\n", "- [Tea](https://e.x)\n"])
def test_plain_text_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "links.txt"
    file.write_text(content)
    data = tmp_path / "data"
    done = CliRunner().invoke(main, ["import", str(file), "--as", "ann", "--data-dir", str(data)])
    assert done.exit_code == 1
    assert done.output.startswith("pinway: the file is plain text: ")
    assert done.output.count("\n") == 1
    assert not data.exists()


def test_json_lines_after_a_bad_line_are_read() -> None:
    assert not is_plain(f"# world\n{USER}\n".encode())
    assert not is_plain(b"")


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_refused_before_stores_are_opened(tmp_path: Path, content: str) -> None:
    file, data = tmp_path / "bookmarks.html", tmp_path / "data"
    file.write_text(content)
    for options in ([], ["--as", "ann"], ["--format", "jsonl"], ["--format", "bookmarks"]):
        done = CliRunner().invoke(main, ["import", str(file), *options, "--data-dir", str(data)])
        assert done.exit_code == 1
        assert done.output == "pinway: the file is empty: export it again\n"
        assert not data.exists()


def test_an_empty_pipe_is_refused_before_stores_are_opened(tmp_path: Path) -> None:
    data = tmp_path / "data"
    done = CliRunner().invoke(main, ["import", "-", "--data-dir", str(data)], input=b"")
    assert done.exit_code == 1
    assert done.output == "pinway: the file is empty: export it again\n"
    assert not data.exists()

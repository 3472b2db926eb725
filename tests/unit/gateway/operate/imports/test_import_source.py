"""A pipe is recognized by its beginning, in whatever pieces the beginning arrives."""

import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.operate.imports import import_source
from gateway.operate.imports.formats import Format
from gateway.operate.imports.jsonl import PinLine
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import ImportOptions

OPTIONS = ImportOptions(owner="ann")
HTML = (
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Tea</TITLE>\n<DL><p>\n"
    "<DT><A HREF='https://e.x/tea'>Tea</A>\n</DL>\n"
)
CSV = "title,url\nTea,https://e.x/tea\n"
ARRAY = '[{"href": "https://e.x/tea", "description": "Tea"}]'
CHROME = (
    '{"roots": {"other": {"type": "folder", "name": "Other", "children": '
    '[{"type": "url", "name": "Tea", "url": "https://e.x/tea"}]}}}'
)
LINES = (
    '{"type":"user","key":"u","username":"ann"}\n'
    '{"type":"board","key":"b","owner":"u","name":"Tea"}\n'
    '{"type":"pin","key":"p","board":"b","title":"Tea","link":"https://e.x/tea"}\n'
)


class Pipe(io.RawIOBase):
    """A pipe whose writer writes these pieces; each read takes one piece at most."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self.reads = pieces, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.reads += 1
        piece = next(self._pieces, b"")
        buffer[: len(piece)] = piece
        return len(piece)


def through(monkeypatch: pytest.MonkeyPatch, pipe: Pipe) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(pipe)))


def in_pieces(text: str, size: int, encoding: str = "utf-8") -> Iterator[bytes]:
    data = text.encode(encoding)
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HTML, Format.HTML),
        (CSV, Format.CSV),
        (ARRAY, Format.JSON_ARRAY),
        (CHROME, Format.CHROME),
        (LINES, Format.JSON_LINES),
    ],
)
def test_small_writes_change_neither_format_nor_content(
    monkeypatch: pytest.MonkeyPatch, text: str, expected: Format, size: int
) -> None:
    through(monkeypatch, Pipe(in_pieces(text, size)))
    with import_source.opened(Path("-")) as source:
        found, _ = source.check(OPTIONS)
        entries = list(source.entries(OPTIONS))
    assert found is expected
    pins = [e.parsed for e in entries if isinstance(e, Entry) and isinstance(e.parsed, PinLine)]
    assert [(pin.title, pin.link) for pin in pins] == [("Tea", "https://e.x/tea")]


def test_a_pipe_of_utf16_may_begin_with_half_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    through(monkeypatch, Pipe(in_pieces(HTML, 1, "utf-16")))
    with import_source.opened(Path("-")) as source:
        assert source.check(OPTIONS)[0] is Format.HTML


def test_json_lines_are_read_before_much_of_them_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer may be a person, or a program that waits for an answer."""

    def written() -> Iterator[bytes]:
        yield b'{"type":"user","key":"u",'
        yield b'"username":"ann"}\n'
        raise AssertionError("the reader waits for more")

    pipe = Pipe(written())
    through(monkeypatch, pipe)
    with import_source.opened(Path("-")) as source:
        assert source.check(OPTIONS)[0] is Format.JSON_LINES
        first = next(iter(source.entries(OPTIONS)))
    assert first.line == 1
    assert pipe.reads == 2

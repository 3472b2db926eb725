"""Files of bookmarks in odd shapes: encodings, broken tags, depths, sizes and addresses. Each is
read whole, in bounded memory, and what can't be read is told."""

import io
import tracemalloc
from itertools import islice

import pytest

from gateway.operate.imports.events import Fault
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.jsonl import BoardLine, PinLine
from gateway.operate.imports.report import ImportOptions
from tests.importing.worlds import bookmarks

HEAD = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n"
SHIFT_JIS = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=Shift_JIS">'
CP1252 = "<meta charset='windows-1252'>"
OPTIONS = ImportOptions(format="bookmarks", owner="ann")
Read = tuple[dict[str, list[tuple[str, str | None]]], list[str]]


def read(data: bytes) -> Read:
    """The boards by name, with their pins' titles and links, and the messages."""
    boards: dict[str, str] = {}
    pins: dict[str, list[tuple[str, str | None]]] = {}
    faults: list[str] = []
    for line in Source(io.BytesIO(data), None, 0).entries(OPTIONS):
        if isinstance(line, Fault):
            faults.append(f"{line.line}: {line.message}")
        elif isinstance(line.parsed, BoardLine):
            boards[line.parsed.key] = line.parsed.name
            pins[line.parsed.name] = []
        elif isinstance(line.parsed, PinLine):
            pins[boards[line.parsed.board]].append((line.parsed.title, line.parsed.link))
    return pins, faults


def one(title: str, link: str = "https://e.x/", board: str = "Bookmarks") -> Read:
    return {board: [(title, link)]}, []


def a(title: str, link: str = "https://e.x/") -> str:
    return f'<DT><A HREF="{link}">{title}</A>\n'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ((HEAD + a("茶")).encode("utf-16"), one("茶")),
        (b"\xfe\xff" + (HEAD + a("茶")).encode("utf-16-be"), one("茶")),
        (b"\xef\xbb\xbf" + (HEAD + a("茶")).encode(), one("茶")),
        ((SHIFT_JIS + HEAD + a("表示")).encode("cp932"), one("表示")),
        ((CP1252 + HEAD + a("“café”")).encode("cp1252"), one("“café”")),
        ((HEAD + a("x\ny")).replace("\n", "\r\n").encode(), one("x y")),
        ((HEAD + a("x\ny")).replace("\n", "\r").encode(), one("x y")),
        ((HEAD + a("x")).replace("<DT>", "").lower().encode(), one("x", board="bookmarks")),
        ((HEAD + a("x")).encode().replace(b"x", b"x\0y").replace(b"e.x\0y", b"e.x"), one("xy")),
        (b'<A HREF="https://e.x/" HREF="https://wrong/">x', one("x")),
        (b"<a\nhref\n=\nhttps://e.x/\n>x</A >", one("x")),
        (b"<A HREF='https://e.x/?a=\"b\"'>x", one("x", 'https://e.x/?a="b"')),
        (b"<A HREF=https://e.x/?q=%zz%%00&eacute=1&eacute;>x", one("x", "https://e.x/?q=%zz%%00&eacute=1\u00e9")),
        ("<A HREF=https://例え.jp/>x".encode(), one("x", "https://例え.jp/")),
        (b"<A HREF=feed://e.x/rss>x", one("x", "http://e.x/rss")),
        (b"<A HREF=https://e.x/>" + b"t" * 100_000, one("t" * 500)),
        (b"<A HREF=https://e.x/ ICON='data:," + b"A" * 1_000_000 + b"'>x", one("x")),
        (b"<TITLE>Mine<A HREF=https://e.x/>x", one("x", board="Mine")),
        (b"<DL><DT><A HREF=https://e.x/>x<DD>d</A><HR><HR></DL></DL></DL>", one("x")),
    ],
)  # fmt: skip
def test_an_odd_file_is_read_whole(data: bytes, expected: Read) -> None:
    assert read(data) == expected


def test_lists_without_ends_and_folders_without_names_or_lists() -> None:
    text = "<DL><DT><H3>Tea<DL>" + a("1") + "<DT><H3></H3>" + a("2") + "<H3>Cake</H3><DL>" + a("3")
    found, faults = read(text.encode())
    assert faults == []
    assert found == {
        "Tea": [("1", "https://e.x/"), ("2", "https://e.x/")],
        "Tea / Untitled": [],
        "Tea / Cake": [("3", "https://e.x/")],
    }


def test_a_list_without_a_heading_belongs_to_the_folder_around_it() -> None:
    text = f"<DL><DT><H3>Tea</H3><DL><DL>{a('1')}</DL>{a('2')}</DL>{a('3')}</DL>"
    found, _ = read(text.encode())
    assert [list(dict(pins)) for pins in found.values()] == [["1", "2"], ["3"]]


def test_bookmarklets_and_places_are_told_and_the_rest_is_read() -> None:
    schemes = [
        "javascript:alert(1)",
        "data:text/html,x",
        "place:sort=8",
        "about:blank",
        "file:///x",
    ]
    text = "\n".join([a("x", scheme).strip() for scheme in schemes] + [a("good")])
    found, faults = read(text.encode())
    assert found == {"Bookmarks": [("good", "https://e.x/")]}
    assert [fault.split(": ", 1)[0] for fault in faults] == ["1", "2", "3", "4", "5"]


def test_ten_thousand_folders_within_each_other_are_read() -> None:
    text = "<DL>" + "<DT><H3>f</H3><DL>" * 10_000 + a("deep") + "</DL>" * 10_000 + a("after")
    found, faults = read(text.encode())
    assert len(found) == 101
    assert [pins for pins in found.values() if pins] == [
        [("deep", "https://e.x/")], [("after", "https://e.x/")]
    ]  # fmt: skip
    assert len(faults) == 9_900


def test_empty_folders_within_each_other_are_boards() -> None:
    found, _ = read(
        (
            "<DL>" + "<DT><H3>f</H3><DL>" * 40 + "<DT><A HREF=https://e.x>x</A>" + "</DL>" * 41
        ).encode()
    )
    assert len(found) == 40
    assert max(found, key=len) == " / ".join("f" * 40)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            b"<DL>",
            b"</DL>",
            b"<",
            b"&",
            b"<!--",
            b"<a ",
            b"<a href='",
            b"<A x=1>",
            b"<DD>x\n",
            b"\0",
        ),
        *(
            b"<DT><A HREF=https://e.x/>",
            b"<H3>",
            b"text ",
            b"&#",
            b"</",
            b"<!",
            b"<script>",
            b"'\"",
        ),
    ],
)
def test_a_piece_that_is_repeated_without_end_does_no_harm(piece: bytes) -> None:
    found = read(piece * ((1 << 16) // len(piece)) + b"'\"></script>--><DT>" + a("last").encode())
    assert any(pin[0] == "last" for pins in found[0].values() for pin in pins)


def test_the_memory_for_an_export_in_one_line_does_not_grow_with_it() -> None:
    peak(100)  # fills the caches of the libraries, which are no part of the measure
    few, many = peak(300), peak(1_500)
    assert many - few < sum(map(len, bookmarks(1_200))) / 2, (few, many)


def peak(links: int) -> int:
    """The most bytes of memory that reading an export takes at once. The export is not in memory
    itself."""
    pieces = (piece.replace(b"\n", b" ") for piece in bookmarks(links))

    class File(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"".join(islice(pieces, 100))

    tracemalloc.start()
    try:
        for _ in Source(File(), None, 0).entries(OPTIONS):  # type: ignore[arg-type]
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

"""Bookmark files, as browsers write them and as they break."""

import pytest

from gateway.operate.imports.bookmarks import read
from gateway.operate.imports.events import Fault, Folder, Link, Title
from gateway.operate.imports.markup import MAX_TAG

CHROME = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1600000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><A HREF="https://e.com/a?x=1&amp;y=2" ADD_DATE="1600000001" ICON="data:,">A &amp; B</A>
        <DD>About A,
on two lines
        <DT><H3 ADD_DATE="1600000002">Travel</H3>
        <DD>Places
        <DL><p>
            <DT><A HREF="https://example.com/b" ADD_DATE="1600000003">B</A>
        </DL><p>
        <DT><A HREF="https://example.com/c">C</A>
    </DL><p>
    <DT><A HREF="https://example.com/d">D</A>
</DL><p>
"""


def events(text: bytes, size: int = 1 << 16) -> list[object]:
    return list(read(text[at : at + size] for at in range(0, len(text), size)))


def links(text: bytes) -> list[Link]:
    return [event for event in events(text) if isinstance(event, Link)]


def faults(text: bytes) -> list[Fault]:
    return [event for event in events(text) if isinstance(event, Fault)]


def test_folders_and_links_come_in_the_order_of_the_file() -> None:
    bar, travel = ("Bookmarks bar",), ("Bookmarks bar", "Travel")
    address = "https://example.com/"
    assert events(CHROME) == [
        Title("Bookmarks"),
        Title("Bookmarks"),
        Folder(7, bar, True, 1600000000000, ""),
        Link(
            9, bar, "https://e.com/a?x=1&y=2", "A & B", "About A,\non two lines", 1600000001000, 1
        ),
        Folder(12, travel, False, 1600000002000, "Places"),
        Link(15, travel, f"{address}b", "B", "", 1600000003000, 2),
        Link(17, bar, f"{address}c", "C", "", 0, 3),
        Link(19, (), f"{address}d", "D", "", 0, 4),
    ]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pieces_of_any_size_read_the_same(size: int) -> None:
    assert events(CHROME, size) == events(CHROME)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " java\nscript:x",
        "place:sort=8",
        "chrome://flags",
        "file:///etc",
        "",
        "https://",
        "data:text/html,x",
        "about:blank",
    ],
)
def test_what_is_no_web_address_is_told_by_its_line(address: str) -> None:
    (fault,) = faults(f'<DL>\n<DT><A HREF="{address}">x</A>\n</DL>'.encode())
    assert fault.line == 2
    assert "no web address" in fault.message


def test_a_scheme_in_capitals_is_a_web_address() -> None:
    assert links(b'<A HREF="HTTPS://Example.com/A b">x')[0].href == "https://Example.com/A%20b"


@pytest.mark.parametrize(
    ("date", "milliseconds"),
    [
        ("1600000001", 1600000001000),
        ("1600000001234", 1600000001234),
        ("1600000001234567", 1600000001234),
        ("13244473601234567", 1600000001234),
        ("0", 0),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
        ("9" * 30, 0),
    ],
)
def test_dates_are_read_in_the_units_that_browsers_use(date: str, milliseconds: int) -> None:
    (link,) = links(f'<A HREF="https://example.com" ADD_DATE="{date}">x</A>'.encode())
    assert link.added == milliseconds


@pytest.mark.parametrize("date", ["soon", "-5", "9" * 30, "99999999999999", "2e9"])
def test_a_date_that_is_none_is_told_and_its_link_kept(date: str) -> None:
    text = f'<DL>\n<DT><A HREF="https://example.com" ADD_DATE="{date}">x</A>'.encode()
    (fault,) = faults(text)
    assert fault.line == 2
    assert f"ADD_DATE is '{date}'" in fault.message
    assert fault.kept
    assert [link.added for link in links(text)] == [0]


@pytest.mark.parametrize("attribute", ["", 'ADD_DATE=""', 'ADD_DATE="0"'])
def test_a_link_without_a_date_is_no_mistake(attribute: str) -> None:
    assert faults(f'<A HREF="https://example.com" {attribute}>x</A>'.encode()) == []


def test_unclosed_and_misplaced_tags_do_what_they_do_in_a_browser() -> None:
    text = b"""</DL><DL><DT><H3>One<DL><DT><A HREF="https://example.com/1">first
<DT><A HREF=https://example.com/2>sec<b>ond</A>ignored
</DL></DL></DL></DL><A HREF='https://example.com/3' HREF="https://example.com/x">third"""
    assert [(link.path, link.href[-1], link.title) for link in links(text)] == [
        (("One",), "1", "first"),
        (("One",), "2", "second"),
        ((), "3", "third"),
    ]


def test_safari_files_without_dates_and_lists_around_folders_are_read() -> None:
    text = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<HTML><META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8"><Title>Bookmarks</Title>
<H1>Bookmarks</H1>
<DT><H3 FOLDED>Favorites</H3>
<DL><p>
<DT><A HREF="https://www.apple.com/">Apple</A>
</DL><p>
<DT><A HREF="https://example.com/">Example</A>
</HTML>"""
    assert [(link.path, link.title) for link in links(text)] == [
        (("Favorites",), "Apple"),
        ((), "Example"),
    ]


def test_the_encoding_is_the_byte_order_marks_or_the_metas_or_utf8() -> None:
    page = (
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=%s"><A HREF="http://e.x">é</A>'
    )
    for data in (
        (page % "UTF-8").encode(),
        (page % "ISO-8859-1").encode("latin-1"),
        (page % "windows-1252").encode("cp1252"),
        (page % "no-such-code").encode(),
        (page % "UTF-16").encode(),
        "\ufeff".encode() + (page % "UTF-8").encode(),
        (page % "UTF-16").encode("utf-16"),
    ):
        assert links(data)[0].title == "é"


def test_broken_bytes_become_replacement_characters() -> None:
    assert links(b'<A HREF="https://example.com">a\xffb')[0].title == "a\ufffdb"


def test_a_tag_without_end_is_told_and_does_not_fill_memory() -> None:
    text = b'<DL>\n<DT><A HREF="' + b"x" * (MAX_TAG + (1 << 20))
    found = events(text + b'\n">lost</A>\n<DT><A HREF="https://example.com">kept</A>')
    assert next(event for event in found if isinstance(event, Fault)).line == 2
    assert [event.title for event in found if isinstance(event, Link)] == ["kept"]


def test_folders_nested_too_deeply_join_their_parent() -> None:
    text = b"<DL>" + b"<DT><H3>f</H3><DL>" * 150 + b'<A HREF="https://example.com">deep</A>'
    assert len(links(text)[0].path) == 100
    assert len(faults(text)) == 50

"""Files as streams of import lines."""

import io
from collections.abc import Iterable

from gateway.operate.imports.entries import MAX_LINE, json_lines
from gateway.operate.imports.events import Fault
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.jsonl import BoardLine, PinLine, UserLine
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import ImportOptions
from tests.importing.worlds import bookmarks

USER = b'{"type":"user","key":"u","username":"ann"}'


def pins(entries: Iterable[Entry | Fault]) -> list[PinLine]:
    return [e.parsed for e in entries if isinstance(e, Entry) and isinstance(e.parsed, PinLine)]


def boards(entries: Iterable[Entry | Fault]) -> list[BoardLine]:
    return [e.parsed for e in entries if isinstance(e, Entry) and isinstance(e.parsed, BoardLine)]


def of_bookmarks(html: str, *, secret: bool = False, owner: str = "ann") -> list[Entry | Fault]:
    file = io.BytesIO(html.encode())
    return list(Source(file, None, 7000).entries(options(owner, secret)))


def options(owner: str = "ann", secret: bool = False) -> ImportOptions:
    return ImportOptions(format="bookmarks", owner=owner, secret=secret)


def test_lines_have_their_numbers_and_empty_ones_are_nothing() -> None:
    file = io.BytesIO(b"\xef\xbb\xbf" + USER + b"\r\n\n  \nnot json\n" + USER)
    found = list(json_lines(file))
    assert [entry.line for entry in found] == [1, 4, 5]
    assert [isinstance(entry, Fault) for entry in found] == [False, True, False]


def test_a_line_longer_than_memory_should_hold_is_told_and_skipped() -> None:
    file = io.BytesIO(b"x" * (3 * MAX_LINE) + b"\n" + USER)
    long, user = json_lines(file)
    assert isinstance(long, Fault)
    assert isinstance(user, Entry)
    assert (long.line, user.line) == (1, 2)


def test_the_owner_comes_first_and_may_be_there_already() -> None:
    first = of_bookmarks("<A HREF=https://e.x>")[0]
    assert isinstance(first, Entry)
    assert first.adopt
    assert isinstance(first.parsed, UserLine)
    assert first.parsed.username == "ann"


def test_a_board_is_named_after_its_folder_and_those_around_it_but_not_a_browsers_own() -> None:
    found = of_bookmarks("""<TITLE>My marks</TITLE><DL>
        <DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Bar</H3><DL>
            <DT><H3>Travel</H3><DD>Far away<DL><DT><H3>Japan</H3><DL></DL></DL>
            <DT><A HREF="https://example.com/bar">in the bar</A>
        </DL>
        <DT><H3 UNFILED_BOOKMARKS_FOLDER="true">Other</H3><DL></DL>
        <DT><A HREF="https://example.com/none">in none</A></DL>""")
    assert [board.name for board in boards(found)] == [
        "Travel",
        "Travel / Japan",
        "Bar",
        "My marks",
    ]
    assert boards(found)[0].description == "Far away"


def test_links_without_a_date_have_their_folders_or_the_files() -> None:
    found = of_bookmarks("""<DL><DT><H3 ADD_DATE="5">Five</H3><DL>
        <DT><A HREF="https://example.com/1" ADD_DATE="6">1</A>
        <DT><A HREF="https://example.com/2">2</A></DL>
        <DT><A HREF="https://example.com/3">3</A></DL>""")
    assert [pin.created and pin.created.timestamp() for pin in pins(found)] == [6, 5, 7]


def test_links_of_one_moment_stand_in_the_order_of_the_file() -> None:
    links = "".join(f'<DT><A HREF="https://example.com/{n}">{n}</A>' for n in range(50))
    sequences = [int(pin.sequence or 0) for pin in pins(of_bookmarks(f"<DL>{links}</DL>"))]
    assert sequences == sorted(sequences, reverse=True)
    assert len(set(sequences)) == 50


def test_the_same_link_added_twice_to_a_folder_is_two_pins_and_written_twice_is_one_key() -> None:
    found = pins(
        of_bookmarks("""<DL><DT><A HREF="https://e.x/1" ADD_DATE="1">a</A>
        <DT><A HREF="https://e.x/1" ADD_DATE="2">a</A>
        <DT><A HREF="https://e.x/1" ADD_DATE="2">renamed</A></DL>""")
    )
    assert len({pin.key for pin in found}) == 2


def test_keys_are_the_same_each_time_and_other_for_other_owners() -> None:
    html = '<DL><DT><H3>F</H3><DL><DT><A HREF="https://e.x/1">a</A></DL></DL>'
    keys = [
        {line.key for line in [*boards(found), *pins(found)]}
        for found in (of_bookmarks(html), of_bookmarks(html), of_bookmarks(html, owner="bob"))
    ]
    assert keys[0] == keys[1]
    assert not keys[0] & keys[2]


def test_texts_that_are_too_long_are_cut_and_addresses_that_are_told() -> None:
    found = of_bookmarks(
        f'<DL><DT><H3>{"f" * 300}</H3><DL>\n<DT><A HREF="https://e.x/">{"t" * 900}</A>\n'
        f'<DT><A HREF="https://e.x/{"l" * 3000}">x</A></DL></DL>'
    )
    assert len(boards(found)[0].name) == 180
    assert len(pins(found)[0].title) == 500
    (fault,) = [entry for entry in found if isinstance(entry, Fault)]
    assert fault.line == 3
    assert "2,048" in fault.message


def test_boards_of_bookmarks_can_be_secret() -> None:
    html = '<DL><DT><A HREF="https://e.x/1">a</A></DL>'
    assert boards(of_bookmarks(html, secret=True))[0].secret
    assert not boards(of_bookmarks(html))[0].secret


def test_ten_thousand_links_of_a_browser_are_ten_thousand_pins() -> None:
    file = io.BytesIO(b"".join(bookmarks(10_000)))
    found = list(Source(file, None, 0).entries(options()))
    assert len(pins(found)) == 10_000
    assert not [entry for entry in found if isinstance(entry, Fault)]
    assert all(
        pin.title.startswith("Link ") and pin.title.endswith("— café") for pin in pins(found)
    )


def test_two_folders_of_one_name_are_told_and_share_a_board() -> None:
    found = of_bookmarks("""<DL><DT><H3>Tea</H3><DL>
        <DT><A HREF="https://example.com/1">1</A></DL>
        <DT><H3>Tea</H3><DL>
        <DT><A HREF="https://example.com/2">2</A></DL></DL>""")
    (fault,) = (entry for entry in found if isinstance(entry, Fault))
    assert (fault.line, "'Tea' is there already, in line 1" in fault.message) == (3, True)
    (board,) = boards(found)
    assert {pin.board for pin in pins(found)} == {board.key}
    assert len(pins(found)) == 2

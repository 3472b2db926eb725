"""Folders as boards: private links, names that can be told apart, and texts."""

import io

import pytest

from datasources.errors import BadInput
from gateway.operate.imports.events import Fault
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.jsonl import BoardLine, PinLine
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import ImportOptions


class Taken:
    """The boards by their names, and their pins."""

    def __init__(self, html: str, *, secret: bool = False) -> None:
        options = ImportOptions(format="bookmarks", owner="ann", secret=secret)
        source = Source(io.BytesIO(html.encode()), None, 7000)
        self.lines = list(source.entries(options))
        entries = [line for line in self.lines if isinstance(line, Entry)]
        self.faults = [line for line in self.lines if isinstance(line, Fault)]
        boards = [it.parsed for it in entries if isinstance(it.parsed, BoardLine)]
        self.pins = [it.parsed for it in entries if isinstance(it.parsed, PinLine)]
        self.private = sum(it.private for it in entries)
        names = {board.key: board.name for board in boards}
        assert len(set(names.values())) == len(boards), "two boards have one name"
        self.boards: dict[str, list[str]] = {board.name: [] for board in boards}
        self.secret = {board.name for board in boards if board.secret}
        for pin in self.pins:
            self.boards[names[pin.board]].append(pin.title)


def link(name: str, attributes: str = "") -> str:
    return f'<DT><A HREF="https://example.com/{name}" {attributes}>{name}</A>\n'


def folder(name: str, *content: str, attributes: str = "") -> str:
    return f"<DT><H3 {attributes}>{name}</H3>\n<DL><p>\n{''.join(content)}</DL><p>\n"


def test_private_links_go_to_a_secret_board_beside_their_folders() -> None:
    found = Taken(folder("Tea", link("a"), link("b", 'PRIVATE="1"'), link("c", 'PRIVATE="0"')))
    assert found.boards == {"Tea": ["a", "c"], "Tea (private)": ["b"]}
    assert found.secret == {"Tea (private)"}
    assert found.private == 1
    assert found.faults == []


def test_every_word_for_private_counts_and_only_a_clear_no_does_not() -> None:
    yes = ["private", "PRIVATE=''", "private=true", "PRIVATE=yes", "private=2", "public=0"]
    yes += ["PUBLIC='false'", "shared=no", "private=maybe"]
    no = ["private=0", "PRIVATE='false'", "private=no", "public=1", "shared=yes", "public", ""]
    for attributes in yes:
        assert Taken(link("a", attributes)).secret, attributes
    for attributes in no:
        assert not Taken(link("a", attributes)).secret, attributes


def test_a_private_folder_makes_everything_in_it_private() -> None:
    inner = folder("Inner", link("b"))
    found = Taken(folder("Outer", link("a"), inner, attributes="PRIVATE=1") + link("c"))
    assert found.boards == {
        "Outer (private)": ["a"], "Outer / Inner (private)": ["b"], "Bookmarks": ["c"]
    }  # fmt: skip
    assert found.secret == {"Outer (private)", "Outer / Inner (private)"}


def test_the_name_of_a_folder_that_holds_private_links_alone_is_on_no_public_board() -> None:
    lawyers = folder("Lawyers", link("a", "PRIVATE=1"))
    found = Taken(folder("Divorce", lawyers) + folder("Tea", link("b")) + folder("Empty"))
    assert found.boards == {"Divorce / Lawyers (private)": ["a"], "Tea": ["b"], "Empty": []}


def test_a_folder_is_public_if_a_public_link_follows_the_private_ones() -> None:
    inner = folder("Japan", link("a", "PRIVATE=1"))
    found = Taken(folder("Travel", inner, link("b")))
    assert found.boards == {"Travel / Japan (private)": ["a"], "Travel": ["b"]}


def test_all_links_of_a_secret_import_stay_together() -> None:
    found = Taken(folder("Tea", link("a"), link("b", "PRIVATE=1")), secret=True)
    assert found.boards == {"Tea": ["a", "b"]}
    assert found.secret == {"Tea"}


def test_a_link_that_is_there_twice_once_private_is_two_pins() -> None:
    found = Taken(folder("Tea", link("a"), link("a", "PRIVATE=1")))
    assert found.boards == {"Tea": ["a"], "Tea (private)": ["a"]}
    assert len({pin.key for pin in found.pins}) == 2


def test_a_second_reading_gives_the_same_lines() -> None:
    html = folder("Travel / Japan", link("a")) + folder("Travel", folder("Japan", link("b")))
    html += folder("Tea", link("c", "PRIVATE=1"), link("d"))
    assert Taken(html).lines == Taken(html).lines


def test_folders_whose_boards_would_have_one_name_get_numbers() -> None:
    found = Taken(
        folder("Travel / Japan", link("a"))
        + folder("Travel", folder("Japan", link("b"), link("c", "PRIVATE=1")))
        + folder("Travel / Japan (private)", link("d"))
        + folder("Bookmarks", link("e"))
        + link("f")
    )
    assert found.boards == {
        "Travel / Japan": ["a"],
        "Travel": [],
        "Travel / Japan (2)": ["b"],
        "Travel / Japan (private)": ["c"],
        "Travel / Japan (private) (2)": ["d"],
        "Bookmarks": ["e"],
        "Bookmarks (2)": ["f"],
    }


def test_long_names_that_are_cut_alike_get_numbers_too() -> None:
    found = Taken(folder("a" + "x" * 300, link("a")) + folder("b" + "x" * 300, link("b")))
    first, second = found.boards
    assert len(first) == len(second) == 180
    assert second.endswith("x (2)")


def test_names_that_differ_in_characters_nobody_sees_get_numbers() -> None:
    found = Taken(
        folder("Tea", link("a")) + folder("Te\u202ea\u2069", link("b")) + folder("cafe\u0301")
        + folder("caf\u00e9") + folder("\u202e", link("c"))
    )  # fmt: skip
    assert list(found.boards) == ["Tea", "Tea (2)", "café", "café (2)", "Untitled"]


def test_characters_that_turn_the_text_are_taken_out_of_titles_and_descriptions() -> None:
    turning = "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
    (pin,) = Taken(
        f'<DT><A HREF="https://e.x/">te{turning}a</A><DD>gr{turning}een\nleaf &#128; \u200d'
    ).pins
    assert (pin.title, pin.description) == ("tea", "green\nleaf € \u200d".strip())
    (pin,) = Taken(f'<DT><A HREF="https://e.x/a">{turning}</A>').pins
    assert pin.title == "https://e.x/a"


def test_a_description_keeps_its_lines_and_a_link_in_it_is_text() -> None:
    found = Taken(
        '<DL><DT><A HREF="https://e.x/1">one</A>\n<DD>First  line\n\n\n\n  second <b>bold</b>\n'
        'see <a href="https://e.x/inner">this page</a>, <A HREF="https://e.x/2">https://e.x/2</A>'
        "<br>and<ul><li>a<li>b</ul>end\n<DT><A HREF='https://e.x/3'>three</A>\n"
        "<DD>without DT\n<A HREF='https://e.x/4' ADD_DATE='1600000000'>four</A></DL>"
    )
    assert [pin.title for pin in found.pins] == ["one", "three", "four"]
    lines = found.pins[0].description.split("\n")
    assert lines[:4] == [
        "First line", "", "second bold", "see this page (https://e.x/inner), https://e.x/2"
    ]  # fmt: skip
    assert [line for line in lines[4:] if line] == ["and", "a", "b", "end"]
    assert found.pins[1].description == "without DT"


def test_what_can_not_be_a_link_is_a_pin_with_its_text_and_told_once() -> None:
    long = f"https://e.x/{'x' * 3000}"
    found = Taken(
        f'<DL>\n<DT><A HREF="/tea">Tea</A><DD>A note\n<DT><A HREF="{long}">Long</A>\n'
        '<DT><A HREF="ftp://e.x/f">f</A></DL>'
    )
    assert [(pin.title, pin.link, pin.description) for pin in found.pins] == [
        ("Tea", None, "A note\n/tea"), ("Long", None, long), ("f", None, "ftp://e.x/f")
    ]  # fmt: skip
    assert [(fault.line, fault.kept) for fault in found.faults] == [(2, True), (3, True), (4, True)]


def test_a_link_without_its_own_date_has_the_date_of_its_last_change() -> None:
    found = Taken(
        folder(
            "Tea",
            link("a", 'LAST_MODIFIED="1600000005"'),
            link("b", 'ADD_DATE="1600000004" LAST_MODIFIED="1600000005"'),
            link("c", 'ADD_DATE="0" LAST_MODIFIED="1600000006.5"'),
            link("d"),
            attributes='ADD_DATE="1600000001"',
        )
    )
    times = [pin.created.timestamp() if pin.created else None for pin in found.pins]
    assert times == [1600000005, 1600000004, 1600000006.5, 1600000001]


def test_a_link_keeps_its_key_when_it_is_changed_later() -> None:
    keys = {
        Taken(link("a", f'LAST_MODIFIED="{date}"')).pins[0].key
        for date in ("1600000005", "1600000006")
    }
    assert len(keys) == 1


def test_a_title_without_a_visible_character_gives_way_to_the_address() -> None:
    for blank in ("\u200d", "\ufe0f", "\u2800", "\u0301", "\u00ad\u200e", "\U000e0041"):
        found = Taken(folder(blank, f'<DT><A HREF="https://e.x/tea">{blank}</A>\n<DD>{blank}'))
        assert found.boards == {"Untitled": ["https://e.x/tea"]}, ascii(blank)
        assert found.pins[0].description == "", ascii(blank)
        found = Taken(folder("Tea", folder(blank, link("a"))))
        assert found.boards == {"Tea": [], "Tea / Untitled": ["a"]}, ascii(blank)


def test_a_password_in_a_link_within_a_description_is_left_out() -> None:
    inner = '<A HREF="https://ann:hunter2@e.x/">my router</A>'
    found = Taken(link("a") + f"<DD>See {inner} at home")
    assert found.pins[0].description == "See my router at home"


def test_blocks_within_a_description_are_lines() -> None:
    found = Taken(link("a") + "<DD>one<blockquote>two</blockquote>three<pre>four</pre></DD>")
    assert found.pins[0].description == "one\ntwo\nthree\nfour"


def test_an_address_with_a_blank_in_its_host_is_no_link() -> None:
    found = Taken('<DT><A HREF="https://my router.local/a b">x</A>')
    assert found.pins[0].link is None
    assert found.pins[0].description == "https://my router.local/a b"


def test_a_file_without_links_is_refused() -> None:
    for html in ("<html><h1>Welcome</h1><p>Nothing here</p></html>", folder("Tea")):
        with pytest.raises(BadInput, match="no links"):
            Taken(html)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_users_own_folder_with_the_name_of_a_secret_board_stays_public(reverse: bool) -> None:
    """And no link changes sides, whichever of the two folders comes first."""
    folders = [
        folder("Tea", link("a"), link("b", "PRIVATE=1")),
        folder("Tea (private)", link("c"), link("d", "PRIVATE=1")),
        folder("Tea (private) (2)", link("e")),
        folder("Tea (2)", link("f", "PRIVATE=1")),
    ]
    found = Taken("".join(reversed(folders) if reverse else folders))
    held = {title: name for name, titles in found.boards.items() for title in titles}
    secret = {title for title, name in held.items() if name in found.secret}
    assert secret == {"b", "d", "f"}
    assert len(set(held.values())) == 6
    assert held["a"] == "Tea"


def test_addresses_with_a_password_are_taken_out_of_texts() -> None:
    told = "see https://ann:leaves@host/x and https://e.x/@ann"
    found = Taken(
        folder(
            "Tea https://ann:leaves@host",
            '<DT><A HREF="https://host/">https://ann:leaves@host/</A>\n'
            f'<DD>{told}\nssh://git@e.x/y <a href="https://u:leaves@host/">there</a>\n',
            link("plain"),
        ).replace("</H3>", f"</H3><DD>{told}")
    )
    assert found.boards == {"Tea …": ["https://host/", "plain"]}
    assert found.pins[0].description == "see … and https://e.x/@ann\nssh://git@e.x/y there"
    assert not any(
        "leaves" in line.data.decode() for line in found.lines if isinstance(line, Entry)
    )
    assert len(found.faults) == 2
    assert all(fault.kept and "password" in fault.message for fault in found.faults)
    assert not any("leaves" in fault.message for fault in found.faults)


def test_hidden_texts_are_left_out_of_names_titles_and_descriptions() -> None:
    tags = "".join(chr(0xE0000 + ord(character)) for character in "evil")
    hidden = f"{tags}\ufe00\ufe01" + "\u200d" * 100
    persian, heart = "می\u200cخواهم", "❤\ufe0f\u200d🔥"
    described = link(f"{persian}{hidden}") + f"<DD>{heart}{hidden}\n"
    taken = Taken(folder(f"Tea{hidden}", described))
    assert taken.boards == {"Tea": [persian]}
    assert [pin.description for pin in taken.pins] == [heart]

"""Public bug reports of programs that import bookmarks, tried on this project's reader of bookmark
files. `reports.md` says what each report was."""

import io
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.operate.imports.bookmarks import Fault, Link, read
from gateway.operate.imports.import_source import Source
from gateway.operate.imports.lines import Entry
from gateway.operate.imports.report import ImportOptions

HEAD = (
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n"
)


@dataclass(frozen=True)
class Report:
    """`links` are the address, title and folders of each link; `says` are parts of descriptions,
    and `dates` the milliseconds since 1970, each parallel to `links` if given. `faults` says
    whether the importer names a line as bad."""

    file: str
    links: list[tuple[str, str, tuple[str, ...]]]
    says: list[str] = field(default_factory=list)
    dates: list[int] = field(default_factory=list)
    faults: bool = False


def folder(name: str, *inside: str) -> str:
    return f"<DT><H3>{name}</H3>\n<DL><p>\n" + "\n".join(inside) + "\n</DL><p>\n"


def link(address: str, title: str = "A", more: str = "") -> str:
    return f'<DT><A HREF="{address}" {more}>{title}</A>\n'


ONE, TWO, LAST = (f"https://example.org/{n}" for n in ("one", "two", "last"))
LONG = "a folder with a name of more than forty characters, as people write them"

REPORTS = {
    "sissbruecker/linkding#396": Report(
        link(ONE, "The &lt;script&gt; element")
        + "<DD>The &lt;script&gt; HTML element &lt;b&gt;embeds\n"
        + link(LAST, "Last"),
        [(ONE, "The <script> element", ()), (LAST, "Last", ())],
        ["The <script> HTML element <b>embeds", ""],
    ),
    "sissbruecker/linkding#69": Report(
        folder("Cars", folder("Restoration", folder("Paint", link(ONE)))),
        [(ONE, "A", ("Cars", "Restoration", "Paint"))],
    ),
    "WooHooDai/linkding-cn#16": Report(
        folder("a", link(ONE)) + folder("b", link(ONE)) + link(TWO),
        [(ONE, "A", ("a",)), (ONE, "A", ("b",)), (TWO, "A", ())],
    ),
    "linkwarden/linkwarden#301": Report(
        link(ONE, "A", 'ADD_DATE="1600000000" TAGS="x,y"')
        + "<DD>Says something\n"
        + link(TWO, "B"),
        [(ONE, "A", ()), (TWO, "B", ())],
        ["Says something", ""],
        [1600000000000, 0],
    ),
    "shaarli/Shaarli#102": Report(
        link("?6SIQOA", "Note: Old", 'PRIVATE="1"')
        + "<DD>Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.4\n\n\x01\x0b odd\n"
        + link(LAST, "Last"),
        [(LAST, "Last", ())],
        faults=True,
    ),
    "shaarli/Shaarli#902": Report(
        link(ONE, "KDE Wiki : toggg", 'PRIVATE="0" TAGS="toggg"')
        + "<DD>-----BEGIN GEEK CODE BLOCK-----\nGE/CS d-(pu) C++$>+++$ W++ N++>- !o M+>++ <b\n"
        + link(LAST, "Une s\u00e9lection"),
        # By the HTML standard `<b` takes in the next `<DT>`: its link belongs to the description.
        [(ONE, "KDE Wiki : toggg", ())],
        ["BEGIN GEEK CODE BLOCK"],
    ),
    "shaarli/Shaarli#681": Report(
        "<HR>    <HR>\n"
        + folder(
            "Bookmarks Toolbar",
            "<DD>Add bookmarks to this folder\n",
            link("javascript:(function(){var%20a=window;})();", "Add to ownCloud"),
            link(ONE, "A", 'ICON_URI="http://e/i" ICON="data:image/png;base64,iVBO="'),
        ),
        [(ONE, "A", ("Bookmarks Toolbar",))],
        faults=True,
    ),
    "sebsauvage/Shaarli#80": Report(
        folder("History", link(ONE, "C family", 'ADD_DATE="1260914469588170"')),
        [(ONE, "C family", ("History",))],
        dates=[1260914469588],
    ),
    "shaarli/Shaarli#1227": Report(
        link(ONE, "A", 'ADD_DATE="99999999999999999999999"') + link(TWO, "B", 'ADD_DATE="x"'),
        [(ONE, "A", ()), (TWO, "B", ())],
        dates=[0, 0],
        faults=True,
    ),
    "karakeep-app/karakeep#538": Report(
        folder("bar", folder("Projects", folder("NAS", link(ONE)), link(TWO))) + link(LAST),
        [(ONE, "A", ("bar", "Projects", "NAS")), (TWO, "A", ("bar", "Projects")), (LAST, "A", ())],
    ),
    "karakeep-app/karakeep#1597": Report(folder(LONG, link(ONE)), [(ONE, "A", (LONG,))]),
    "Kovah/LinkAce#578": Report(
        folder("buku bookmarks", link(ONE, "A", 'TAGS="git"'), link(TWO, "B")),
        [(ONE, "A", ("buku bookmarks",)), (TWO, "B", ("buku bookmarks",))],
    ),
    "sissbruecker/linkding#827": Report(
        "</DL><h1>Unread</h1>\n<ol>\n<li><a href='" + ONE + "'>A</a>\n</ol>\n"
        "<h1>Archive</h1>\n<ol>\n<li><a href='" + TWO + "'>B</a>\n</ol>\n",
        [(ONE, "A", ("Unread",)), (TWO, "B", ("Archive",))],
    ),
    "wallabag/wallabag#1053": Report(
        link("about:home", "Home") + link("about:blank", "") + link(LAST, "Last"),
        [(LAST, "Last", ())],
        faults=True,
    ),
    "karakeep-app/karakeep#401": Report(
        link(ONE, "Car washes : SanMateo", 'ADD_DATE="1726850472" PRIVATE="0" TAGS="car"')
        + "<DD>&lt;blockquote&gt;Hello, has anyone...&lt;/blockquote&gt;\n\n"
        + link(TWO, "Archives | MIT", 'ADD_DATE="1726850459" TOREAD="0"'),
        [(ONE, "Car washes : SanMateo", ()), (TWO, "Archives | MIT", ())],
        ["<blockquote>Hello, has anyone...</blockquote>", ""],
        [1726850472000, 1726850459000],
    ),
}


@dataclass(frozen=True)
class Document:
    """`links` are the address, title and folders of each link."""

    content: Any
    links: list[tuple[str, str, tuple[str, ...]]]


def firefox(*inside: dict[str, Any]) -> dict[str, Any]:
    return {"typeCode": 2, "root": "placesRoot", "children": list(inside)}


DOCUMENTS = {
    "jarun/buku#340": Document(
        firefox(
            {"typeCode": 2, "root": "unfiledBookmarksFolder", "title": "unfiled", "id": 5},
            {
                "typeCode": 2,
                "root": "toolbarFolder",
                "children": [{"typeCode": 1, "title": "A", "uri": ONE}],
            },
        ),
        [(ONE, "A", ("Bookmarks Toolbar",))],
    ),
    "browser-history/browser-history#107": Document(
        {
            "roots": {
                "bookmark_bar": {"name": "Bar", "type": "folder"},
                "custom_root": {"speedDial": {"name": "Speed Dials", "type": "folder"}},
                "other": {"name": "Other", "children": [{"name": "A", "url": ONE}]},
                "sync_transaction_version": "1",
            }
        },
        [(ONE, "A", ("Other",))],
    ),
    "ArchiveBox/ArchiveBox#103": Document(
        [{"is_archived": 0, "tags": [], "id": 1, "title": "A", "url": ONE, "content": "<p>x"}],
        [(ONE, "A", ())],
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_json_document_is_read_as_its_reporter_expected(name: str) -> None:
    document = DOCUMENTS[name]
    data = json.dumps(document.content).encode()
    source = Source(io.BufferedReader(io.BytesIO(data)), len(data), 0)  # type: ignore[arg-type]
    found, _ = source.check(ImportOptions(owner="ann"))
    events = list(source.events(found))
    links = [(each.href, each.title, each.path) for each in events if isinstance(each, Link)]
    assert links == document.links
    assert not any(isinstance(event, Fault) for event in events)


def test_a_link_that_no_file_marks_is_private_only_if_the_import_says_so() -> None:
    """sissbruecker/linkding#1044, Kovah/LinkAce#577: the default is one for all links."""
    (unmarked,) = (each for each in read([(HEAD + link(ONE)).encode()]) if isinstance(each, Link))
    assert not unmarked.private
    for secret in (False, True):
        data = (HEAD + link(ONE) + link(TWO, "B", 'PRIVATE="0"')).encode()
        source = Source(io.BufferedReader(io.BytesIO(data)), len(data), 0)  # type: ignore[arg-type]
        lines = list(source.entries(ImportOptions(owner="ann", secret=secret)))
        boards = [json.loads(each.data) for each in lines if isinstance(each, Entry)]
        boards = [each for each in boards if each["type"] == "board"]
        assert [each.get("secret", False) for each in boards] == [secret]


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("size", [1 << 16, 3], ids=["whole", "in pieces"])
def test_a_bookmark_file_is_read_as_its_reporter_expected(name: str, size: int) -> None:
    report = REPORTS[name]
    text = (HEAD + report.file + "</DL><p>\n").encode()
    events = list(read(text[at : at + size] for at in range(0, len(text), size)))
    links = [each for each in events if isinstance(each, Link) and each.href.startswith("http")]
    assert [(each.href, each.title, each.path) for each in links] == report.links
    assert any(isinstance(event, Fault) for event in events) == report.faults
    if report.says:
        for each, says in zip(links, report.says, strict=True):
            assert says in each.description
    if report.dates:
        assert [each.added for each in links] == report.dates

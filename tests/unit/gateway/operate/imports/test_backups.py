"""JSON backups of Firefox and Chrome whose nodes are not as a browser writes them: one bad node
costs no other."""

import io
import json
from collections.abc import Callable, Iterator
from typing import IO, Any

import pytest

from gateway.operate.imports.backups import read_chrome, read_firefox
from gateway.operate.imports.events import Event, Fault, Link

Read = Callable[[IO[bytes]], Iterator[Event]]


def chrome(*children: Any) -> str:
    return json.dumps({"roots": {"other": {"name": "Other", "children": list(children)}}})


def firefox(*children: Any) -> str:
    menu = {"root": "bookmarksMenuFolder", "typeCode": 2, "children": list(children)}
    return json.dumps({"root": "placesRoot", "typeCode": 2, "children": [menu]})


def of_chrome(url: Any, name: Any) -> dict[str, Any]:
    return {"type": "url", "url": url, "name": name}


def of_firefox(url: Any, name: Any) -> dict[str, Any]:
    return {"typeCode": 1, "uri": url, "title": name}


BROWSERS = pytest.mark.parametrize(
    ("read", "document", "node"),
    [(read_chrome, chrome, of_chrome), (read_firefox, firefox, of_firefox)],
)


def taken(read: Read, data: str | bytes) -> tuple[list[tuple[int, str, str]], list[Fault]]:
    """The links as (number, title, address), and the faults."""
    events = list(read(io.BytesIO(data.encode() if isinstance(data, str) else data)))
    links = [(link.line, link.title, link.href) for link in events if isinstance(link, Link)]
    return links, [event for event in events if isinstance(event, Fault)]


@BROWSERS
@pytest.mark.parametrize("address", [5, 1.5, True, ["https://e.x"], {"a": 1}])
def test_an_address_of_another_type_is_a_bad_entry(
    read: Read, document: Callable[..., str], node: Callable[..., Any], address: Any
) -> None:
    links, faults = taken(read, document(node(address, "a"), node("https://e.x/", "b")))
    assert links == [(3, "b", "https://e.x/")]
    assert [(fault.line, fault.kept) for fault in faults] == [(2, False)]
    assert "which is no text" in faults[0].message


@BROWSERS
def test_nodes_and_fields_of_another_type_cost_no_other_node(
    read: Read, document: Callable[..., str], node: Callable[..., Any]
) -> None:
    odd = [7, None, [], "x", {"children": {"a": 1}}, {"annos": [1, {"name": 2}]}]
    folder = {"name": ["x"], "title": {"y": 1}, "root": [1], "date_added": {}, "dateAdded": []}
    links, faults = taken(
        read,
        document(
            *odd, {**folder, "children": [node("https://e.x/1", 7)]}, node("https://e.x/2", [])
        ),
    )
    assert [(title, href) for _, title, href in links] == [
        ("7", "https://e.x/1"),
        ("", "https://e.x/2"),
    ]
    assert [fault.line for fault in faults if not fault.kept] == [2, 3, 4, 5]


@BROWSERS
def test_half_a_character_is_replaced_and_its_bookmark_is_named(
    read: Read, document: Callable[..., str], node: Callable[..., Any]
) -> None:
    data = (
        document(
            node("https://e.x/1", "Tea \ud83c"),
            node("https://e.x/2", "\\ud83c is no escape, and \U0001f375 is whole"),
            node("https://e.x/3", "BYTES"),
        )
        .encode()
        .replace(b"BYTES", b"\xff\xed\xa0\x80 tea")
    )
    links, faults = taken(read, data)
    assert [title for _, title, _ in links] == [
        "Tea \ufffd",
        "\\ud83c is no escape, and \U0001f375 is whole",
        "\ufffd\ufffd\ufffd\ufffd tea",
    ]
    assert [(fault.line, fault.kept) for fault in faults] == [(2, True), (4, True)]
    assert "'Tea \ufffd'" in faults[0].message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_half_a_character_in_utf16_is_replaced(encoding: str) -> None:
    data = chrome(of_chrome("https://e.x/1", "HALF")).replace("HALF", "\udc00 tea")
    links, faults = taken(read_chrome, data.encode(encoding, "surrogatepass"))
    assert links == [(2, "\ufffd tea", "https://e.x/1")]
    assert len(faults) == 1


def test_a_document_is_not_read_in_an_encoding_that_a_title_names() -> None:
    title = "Grüner Tee: <meta charset=iso-8859-5>"
    data = json.dumps(json.loads(chrome(of_chrome("https://e.x/", title))), ensure_ascii=False)
    assert taken(read_chrome, data)[0] == [(2, title, "https://e.x/")]

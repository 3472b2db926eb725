"""Lists of links as CSV and as JSON arrays. tests/importing/samples has files of services."""

import pytest

from gateway.operate.imports.events import Event, Fault, Link
from gateway.operate.imports.rows import MAX_ROW, read_csv, read_objects


def table(text: str, size: int = 1 << 16) -> list[Event]:
    data = text.encode()
    return list(read_csv(data[at : at + size] for at in range(0, len(data), size)))


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_a_table_is_read_by_the_names_of_its_columns(size: int) -> None:
    found = table(
        "\ufeffCreated;URL;Name;Folder;Excerpt\r\n"
        '1600000001;https://e.x/1;"Tea; green";Tea;"two\r\nlines"\r\n\r\n'
        "soon;https://e.x/2;x\r\n;javascript:1;y\r\n",
        size,
    )
    assert found[0] == Link(
        2, ("Tea",), "https://e.x/1", "Tea; green", "two\nlines", 1600000001000, 1
    )
    told = [(type(event), event.line) for event in found[1:] if isinstance(event, Fault | Link)]
    assert told == [(Fault, 5), (Link, 5), (Fault, 6)]
    assert isinstance(found[2], Link)
    assert found[2].path == ()


def test_a_row_that_is_too_long_fills_no_memory() -> None:
    text = f"url,title\nhttps://e.x/1,{'x' * (3 * MAX_ROW)}\nhttps://e.x/2,y\n"
    fault, link = table(text, 1 << 14)
    assert isinstance(fault, Fault)
    assert isinstance(link, Link)
    assert (fault.line, link.line, link.href) == (2, 3, "https://e.x/2")


@pytest.mark.parametrize(
    ("fields", "private"),
    [
        ({}, False),
        ({"shared": "no"}, True),
        ({"shared": "yes"}, False),
        ({"shared": False}, True),
        ({"private": True}, True),
        ({"private": "0"}, False),
        ({"private": ""}, False),
        ({"is_public": False}, True),
        ({"is_public": 1}, False),
        ({"public": 0}, True),
        ({"public": None}, False),
        ({"visibility": "PRIVATE"}, True),
        ({"visibility": "followers"}, True),
        ({"visibility": "Public"}, False),
        ({"visibility": ""}, False),
    ],
)
def test_a_row_is_private_by_any_services_word(fields: dict[str, object], private: bool) -> None:
    (link,) = read_objects([{"url": "https://e.x", **fields}])
    assert isinstance(link, Link)
    assert link.private is private


def test_objects_of_any_shape_are_told_by_their_number() -> None:
    given = [1, None, {}, {"url": {"a": 1}}, {"url": 5}, {"url": True}, {"url": ["https://e.x"]}]
    found = list(read_objects([*given, {"url": "https://e.x", "title": []}]))
    faults = [event for event in found if isinstance(event, Fault)]
    assert [fault.line for fault in faults] == [1, 2, 3, 4, 5, 6, 7]
    assert not any(fault.kept for fault in faults)
    assert faults[4].message == "its url is '5', which is no text: link left out"
    links = [event for event in found if isinstance(event, Link)]
    assert [(link.line, link.title) for link in links] == [(8, "")]


def test_a_field_without_a_value_gives_way_to_another_with_the_same_meaning() -> None:
    (found,) = read_objects([{"url": None, "link": "https://e.x", "title": "", "name": "Tea"}])
    assert isinstance(found, Link)
    assert (found.href, found.title) == ("https://e.x", "Tea")


def test_half_a_character_is_replaced_and_told() -> None:
    (fault, link) = read_objects([{"url": "https://e.x/\udc00", "title": "Tea \ud83c"}])
    assert isinstance(fault, Fault)
    assert fault.kept
    assert (fault.line, fault.message.partition(" has ")[0]) == (1, "'Tea \ufffd'")
    assert isinstance(link, Link)
    assert (link.href, link.title) == ("https://e.x/\ufffd", "Tea \ufffd")


def test_a_table_is_not_read_in_an_encoding_that_one_of_its_texts_names() -> None:
    (link,) = table('title,url\n"Grüner Tee: <meta charset=iso-8859-5>",https://e.x\n')
    assert isinstance(link, Link)
    assert link.title == "Grüner Tee: <meta charset=iso-8859-5>"


def test_a_list_of_starred_repositories_has_their_pages_and_names() -> None:
    fields = {
        "full_name": "ann/tea",
        "name": "tea",
        "url": "https://api.e.x/repos/ann/tea",
        "html_url": "https://e.x/ann/tea",
        "description": "Leaves",
        "starred_at": "2001-09-09T01:46:40Z",
    }
    expected = Link(1, (), "https://e.x/ann/tea", "ann/tea", "Leaves", 10**12, 1)
    assert list(read_objects([fields])) == [expected]
    assert table("Repository,HTML_URL,Description\nann/tea,https://e.x/ann/tea,Leaves\n") == [
        Link(2, (), "https://e.x/ann/tea", "ann/tea", "Leaves", 0, 1)
    ]

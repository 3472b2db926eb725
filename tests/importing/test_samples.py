"""Exports of browsers and services, as `samples/` has them: their boards, links, dates and private
links. Each file imports the same when it is imported again."""

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from datasources import records
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Board, Pin
from gateway.operate.imports.report import ImportOptions
from tests.audit import audit
from tests.importing.conftest import Fresh
from tests.importing.files import NO_FEEDS, give, import_file, take
from tests.importing.worlds import canonical_set

pytestmark = pytest.mark.anyio

SAMPLES = Path(__file__).parent / "samples"
ANN = replace(NO_FEEDS, owner="ann")
GUIDE, LONG = "https://tea.example/guide?a=1&copy=2", "https://news.example/long?section=1&times=2"
SHAARLI = "Shaarli export of all bookmarks on Fri, 06 Jan 23 09:30:00 +0100"
BOARDS: dict[str, dict[str, list[str | None]]] = {
    "chrome.json": {
        "Bookmarks bar": ["https://mail.example/?view=a&reg=b"],
        "Travel": ["https://travel.example/kyoto"],
    },
    "firefox.json": {
        "Tea": ["https://tea.example/?q=gyokuro&copy=2", "https://kettles.example/"],
        "Bookmarks Toolbar": ["https://weather.example/"],
        "Mobile Bookmarks": ["https://phone.example/"],
    },
    "instapaper.csv": {"Unread": [LONG], "Recipes": ["https://soup.example/"]},
    "instapaper.html": {
        "Unread": [LONG],
        "Recipes": ["https://soup.example/", "https://bread.example/"],
    },
    "linkding.html": {
        "Bookmarks": ["https://tea.example/guide"],
        "Bookmarks (private)": ["https://doctor.example/"],
    },
    "pinboard.html": {"Bookmarks": [GUIDE], "Bookmarks (private)": ["https://doctor.example/"]},
    "pinboard.json": {"Bookmarks": [GUIDE], "Bookmarks (private)": ["https://doctor.example/"]},
    "pocket.csv": {"Unread": [LONG], "Read Archive": ["https://news.example/old"]},
    "pocket.html": {
        "Unread": [LONG, "https://news.example/short"],
        "Read Archive": ["https://news.example/old"],
    },
    "raindrop.csv": {"Tea": [GUIDE], "Unsorted": ["https://kettles.example/"]},
    "raindrop.html": {"Tea": [GUIDE], "Raindrop.io Bookmarks": ["https://kettles.example/"]},
    "safari.html": {
        "Favorites": ["https://www.apple.example/?a=1&reg=2"],
        "Reading List": ["https://news.example/long"],
    },
    "shaarli.html": {
        SHAARLI: ["https://tea.example/guide", None],
        f"{SHAARLI} (private)": ["https://doctor.example/"],
    },
    "wallabag.json": {"Bookmarks": [LONG], "Bookmarks (private)": ["https://doctor.example/"]},
}
FAULTS = {
    "chrome.json": ["bookmark 6: 'chrome://flags/' is no web address: link left out"],
    "firefox.json": [
        "bookmark 2: 'place:type=6&sort=14&maxResults=10' is no web address: link left out",
        "bookmark 7: 'javascript:speechSynthesis.speak(new%20SpeechSynthesisUttera' is no web "
        "address: link left out",
    ],
    "raindrop.csv": ["line 5: '' is no web address: link left out"],
    "shaarli.html": [
        "line 13: '?Xy12ab' can't be a link, because it has no http:// or https://: the pin has it "
        "in its description instead"
    ],
}
T = TypeVar("T")
READ = 1672907400000  # the date of the first link in most files
DESCRIPTIONS = {
    "https://tea.example/?q=gyokuro&copy=2": "Shade-grown.\nBrew at 50 °C.",
    "raindrop.csv": 'Ask Aki\nabout the pot\n\nA long read on "shade"-grown tea',
    "raindrop.html": "Ask Aki\nabout the pot",
    "pinboard.html": "Ask Aki\nabout the pot",
    "pinboard.json": "Ask Aki\nabout the pot",
    "shaarli.html": "See Aki's page (https://aki.example/),\nthen buy.",
}


def test_every_sample_is_described_here() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == BOARDS.keys()


@pytest.mark.parametrize("name", BOARDS)
async def test_a_sample_becomes_boards_and_pins_once(stores: Stores, name: str) -> None:
    first = await import_file(stores, SAMPLES / name, options=ANN)
    assert [str(bad) for bad in first.bad] == FAULTS.get(name, [])
    boards = {board.id: board for board in await found(stores, Kind.BOARD, Board)}
    pins = await found(stores, Kind.PIN, Pin)
    links: dict[str, list[str | None]] = {board.name: [] for board in boards.values()}
    for pin in sorted(pins, key=lambda pin: pin.id):
        links[boards[pin.board_id].name].append(pin.link)
    assert links == BOARDS[name]
    secret = {board.name for board in boards.values() if board.secret}
    assert secret == {board for board in links if board.endswith("(private)")}
    assert first.private_links == sum(len(links[board]) for board in secret)
    guides = [pin for pin in pins if pin.link in (GUIDE, LONG, "https://tea.example/guide")]
    for pin in guides:
        if "instapaper.html" not in name and "safari" not in name:
            assert pin.created == READ, pin
        assert pin.description == DESCRIPTIONS.get(name, ""), pin
    again = await import_file(stores, SAMPLES / name, options=ANN)
    assert not any(again.new.values())
    assert again.private_links == first.private_links
    assert len(await found(stores, Kind.PIN, Pin)) == len(pins)
    assert await audit(stores) == []


async def test_an_export_of_all_samples_imports_as_it_was(fresh: Fresh) -> None:
    async with fresh() as stores:
        for number, name in enumerate(BOARDS):
            options = ImportOptions(owner=f"user_{number}", feeds=False)
            await import_file(stores, SAMPLES / name, options=options)
        exported = await give(stores)
    assert b"\\nabout the pot" in exported
    assert b'"secret":true' in exported
    async with fresh() as stores:
        assert (await take(stores, exported)).bad == []
        assert canonical_set(await give(stores)) == canonical_set(exported)


async def found(stores: Stores, kind: Kind, of: type[T]) -> list[T]:
    rows = await stores.shards.objects.list(kind, 0, 10**6)
    decoded = [records.decode(kind, id, data) for id, data in rows]
    return [record for record in decoded if isinstance(record, of)]

"""The demo's drawn pieces, emoji and photographs: sound, harmless and small."""

import re
import struct
from xml.etree import ElementTree

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from gateway.demo.art.pieces import PIECES, STYLES, draw_piece, pieces
from gateway.demo.emoji import draw_emoji, emoji
from gateway.demo.images import images_app
from gateway.demo.photos import photo_bytes, photos

pytestmark = pytest.mark.anyio

ALLOWED = {
    *("svg", "title", "defs", "linearGradient", "stop", "pattern", "g"),
    *("rect", "circle", "ellipse", "path"),
}
MOST_CHARACTERS = 60_000
LICENSES = {"CC0-1.0", "CC-BY-4.0", "public domain"}


def judge(text: str, height: int) -> None:
    root = ElementTree.fromstring(text)
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert tags <= ALLOWED
    assert not {name for name in attributes if name.startswith("on") or "href" in name}
    assert root.get("height") == str(height)
    assert not re.search(r'[" ](nan|inf)[" ]', text)
    assert len(text) < MOST_CHARACTERS


def test_every_piece_is_sound_and_harmless_svg_of_the_size_that_its_pin_says() -> None:
    found = pieces()
    assert len(found) == PIECES * len(STYLES)
    for piece in found.values():
        judge(draw_piece.__wrapped__(piece), piece.height)


def test_every_emoji_is_sound_and_harmless_svg_of_the_size_that_its_pin_says() -> None:
    assert len(emoji()) > 200
    for found in emoji().values():
        judge(draw_emoji.__wrapped__(found), found.height)


def test_a_drawing_is_the_same_each_time() -> None:
    for piece in (pieces()["hills-1"], pieces()["terrazzo-7"], pieces()["bloom-36"]):
        assert draw_piece.__wrapped__(piece) == draw_piece.__wrapped__(piece)
    fox = emoji()["fox"]
    assert draw_emoji.__wrapped__(fox) == draw_emoji.__wrapped__(fox)


def test_every_photograph_has_its_size_and_an_open_license() -> None:
    for name, photo in photos().items():
        data = photo_bytes(name)
        assert photo.license in LICENSES
        assert (data[:4], data[8:16]) == (b"RIFF", b"WEBPVP8 ")
        assert struct.unpack("<HH", data[26:30]) == (photo.width, photo.height)


async def test_pictures_of_each_kind_come_with_their_type() -> None:
    app = Starlette(routes=[Mount("/images", images_app)])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://pinway") as client:
        for path, kind in (
            ("art/hills-1.svg", "image/svg+xml"),
            ("emoji/fox.svg", "image/svg+xml"),
            ("photos/chelsea.webp", "image/webp"),
        ):
            answer = await client.get(f"/images/{path}")
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(kind)
            assert "default-src 'none'" in answer.headers["content-security-policy"]

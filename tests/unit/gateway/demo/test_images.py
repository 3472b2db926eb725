"""The demo's pictures, as a browser asks for them."""

import sys
from xml.etree import ElementTree

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from gateway.demo.icons import WIDTH, brand, brands, card
from gateway.demo.images import avatar_url, draw_avatar, draw_card, images_app

pytestmark = pytest.mark.anyio

PYTHON, RUST = "/images/brands/python.svg", "/images/brands/rust.svg"
ALLOWED = {"svg", "title", "defs", "linearGradient", "stop", "rect", "circle", "path", "text"}


@pytest.fixture
def client() -> httpx.AsyncClient:
    app = Starlette(routes=[Mount("/images", images_app)])
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://pinway")


async def test_a_brands_card_has_the_size_and_colors_that_its_pin_was_stored_with(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get(PYTHON)
    python = brand("python")
    assert python
    look = card(python)
    root = ElementTree.fromstring(answer.content)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert (root.get("width"), root.get("height")) == (str(WIDTH), str(look.height))
    assert look.background in answer.text
    assert ">Python</text>" in answer.text


async def test_pictures_may_be_kept_for_ever_and_asked_for_again_for_nothing(
    client: httpx.AsyncClient,
) -> None:
    for url in (RUST, avatar_url("maya_chen"), "/images/photos/chelsea.webp"):
        first = await client.get(url)
        assert "immutable" in first.headers["cache-control"]
        again = await client.get(url, headers={"if-none-match": f'"x", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        other = await client.get(url, headers={"if-none-match": '"x"'})
        assert other.content == first.content


async def test_pictures_opened_by_themselves_can_run_and_load_nothing(
    client: httpx.AsyncClient,
) -> None:
    for url in (RUST, avatar_url("maya_chen")):
        headers = (await client.get(url)).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/images/brands/no-such-brand.svg",
        "/images/brands/python.png",
        "/images/brands/../../../etc/passwd",
        "/images/brands/..%2f..%2fetc%2fpasswd",
        "/images/brands/..%2f..%2f..%2f..%2fetc%2fpasswd.svg",
        "/images/brands/%00.svg",
        "/images/brands/python%2esvg.svg",
        "/images/art/hills-0.svg",
        "/images/emoji/no-such-emoji.svg",
        "/images/photos/..%2fphotos.json",
        "/images/photos/..%2f..%2ffiles%2fphotos%2fchelsea.webp",
        "/images/avatars/%3Cscript%3E.svg",
        "/images/avatars/a.svg",
        "/images/avatars/..%2f..%2fx.svg",
        "/images/avatars/Maya.svg",
        "/images/",
    ],
)
async def test_what_is_no_picture_is_not_found(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


async def test_only_reading_is_allowed(client: httpx.AsyncClient) -> None:
    assert (await client.post(PYTHON)).status_code == 405
    head = await client.head(PYTHON)
    assert (head.status_code, head.content) == (200, b"")


def test_every_brand_is_drawn_as_sound_and_harmless_svg() -> None:
    found = brands()
    assert len(found) == 3466
    heights = set()
    for each in found.values():
        root = ElementTree.fromstring(draw_card(each))
        tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
        attributes = {name for element in root.iter() for name in element.attrib}
        assert tags <= ALLOWED
        assert not {name for name in attributes if name.startswith("on") or "href" in name}
        assert root[0].text == each.title
        heights.add(root.get("height"))
    assert len(heights) > 10


def test_each_brand_is_found_alone_and_nothing_else() -> None:
    found = brands()
    some = list(found)[::20]
    assert [brand(slug) for slug in some] == [found[slug] for slug in some]
    for slug in ("", "_init__", "unknown_brand", "../python", "python.x", "Python"):
        assert brand(slug) is None


def test_one_brand_does_not_import_all_icons() -> None:
    imported = set(sys.modules)
    assert brand("zulip")
    assert len(sys.modules.keys() - imported) <= 3


def test_icons_stand_out_from_their_ground() -> None:
    for each in brands().values():
        look = card(each)
        assert contrast(look.icon, look.background) >= 1.2, each


def test_an_avatar_shows_initials_and_the_same_color_each_time() -> None:
    assert ">MC</text>" in draw_avatar("maya_chen")
    assert ">D</text>" in draw_avatar("demo")
    assert draw_avatar("maya_chen") == draw_avatar("maya_chen")
    ElementTree.fromstring(draw_avatar("..."))


def contrast(one: str, other: str) -> float:
    """The contrast of two colors as WCAG 2 defines it, 1 to 21."""

    def luminance(color: str) -> float:
        parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)

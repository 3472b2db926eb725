"""Serves the demo's pictures: drawings as SVG, made on request, and photographs as WebP.

They are mounted at `/images`: `brands/{slug}.svg`, `art/{name}.svg`, `emoji/{name}.svg`,
`photos/{name}.webp` and `avatars/{username}.svg`. Only paths in a list of names are read, and the
only part of a request in a picture is a checked user name.
"""

import asyncio
import hashlib
import re
from functools import lru_cache
from html import escape

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from gateway.demo.art.pieces import draw_piece, pieces
from gateway.demo.emoji import draw_emoji, emoji
from gateway.demo.icons import WIDTH, Brand, Card, brand, card
from gateway.demo.photos import photo_bytes, photos
from gateway.http.files import PICTURE_HEADERS

AVATAR = 256  # pixels, width and height
_ICON = 260  # pixels, width and height on a card
_USERNAME = re.compile(r"[a-z0-9_.]{3,30}")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


async def brand_image(request: Request) -> Response:
    """The card of a brand; 404 for an unknown slug."""
    found = await asyncio.to_thread(brand, request.path_params["slug"])
    return _svg(request, draw_card(found)) if found else _missing()


async def art_image(request: Request) -> Response:
    """A drawn piece; 404 for an unknown name."""
    piece = pieces().get(request.path_params["name"])
    return _svg(request, draw_piece(piece)) if piece else _missing()


async def emoji_image(request: Request) -> Response:
    """An emoji on its ground; 404 for an unknown name."""
    found = emoji().get(request.path_params["name"])
    return _svg(request, draw_emoji(found)) if found else _missing()


async def photo_image(request: Request) -> Response:
    """A photograph; 404 for an unknown name."""
    name = request.path_params["name"]
    if name not in photos():
        return _missing()
    return _kept(request, photo_bytes(name), "image/webp")


async def avatar_image(request: Request) -> Response:
    """Initials on the user's color, for any well-formed user name."""
    username = request.path_params["username"]
    return _svg(request, draw_avatar(username)) if _USERNAME.fullmatch(username) else _missing()


images_app = Router(
    redirect_slashes=False,
    routes=[
        Route("/brands/{slug}.svg", brand_image),
        Route("/art/{name}.svg", art_image),
        Route("/emoji/{name}.svg", emoji_image),
        Route("/photos/{name}.webp", photo_image),
        Route("/avatars/{username}.svg", avatar_image),
    ],
)


def avatar_url(username: str) -> str:
    return f"/images/avatars/{username}.svg"


@lru_cache(256)
def draw_card(brand: Brand) -> str:
    """The icon on a ground of the brand's color, with its title below."""
    look: Card = card(brand)
    left, top = (WIDTH - _ICON) / 2, (look.height - _ICON) / 2 - 24
    size = min(34.0, 1.7 * (WIDTH - 60) / max(len(brand.title), 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{look.height}" '
        f'viewBox="0 0 {WIDTH} {look.height}" role="img">'
        f"<title>{escape(brand.title)}</title>"
        '<defs><linearGradient id="g" x1="0" y1="0" x2="0.35" y2="1">'
        f'<stop offset="0" stop-color="{look.background}"/>'
        f'<stop offset="1" stop-color="{look.shade}"/></linearGradient></defs>'
        f'<rect width="{WIDTH}" height="{look.height}" fill="url(#g)"/>'
        f'<circle cx="{WIDTH / 2:g}" cy="{top + _ICON / 2:g}" r="{_ICON * 0.78:g}" '
        f'fill="{look.icon}" opacity="0.07"/>'
        f'<path fill="{look.icon}" transform="translate({left:g} {top:g}) scale({_ICON / 24:g})" '
        f'd="{brand.path}"/>'
        f'<text x="{WIDTH / 2:g}" y="{look.height - 44}" text-anchor="middle" '
        f'font-family="{_FONT}" font-size="{size:.1f}" font-weight="600" fill="{look.icon}">'
        f"{escape(brand.title)}</text></svg>"
    )


def draw_avatar(username: str) -> str:
    """Up to two initials of a user name of ASCII letters, digits, underscores and dots."""
    words = [word for word in re.split(r"[_.]+", username) if word] or [username]
    initials = "".join(word[0] for word in words[:2]).upper()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{AVATAR}" height="{AVATAR}" '
        f'viewBox="0 0 {AVATAR} {AVATAR}" role="img"><title>{escape(username)}</title>'
        f'<rect width="{AVATAR}" height="{AVATAR}" fill="{avatar_color(username)}"/>'
        f'<text x="50%" y="50%" dy="0.36em" text-anchor="middle" font-family="{_FONT}" '
        f'font-size="104" font-weight="600" fill="#ffffff">{initials}</text></svg>'
    )


def avatar_color(username: str) -> str:
    """A color for a user name that is dark enough for white letters; always the same for a name."""
    digest = hashlib.blake2b(username.encode(), digest_size=2).digest()
    hues = ("#8b2f4b", "#b3432b", "#8a5a00", "#4f6b1f", "#1f6f5c", "#1d6a8f", "#2f4fa8", "#6a3fa0")
    return hues[int.from_bytes(digest, "big") % len(hues)]


def _svg(request: Request, text: str) -> Response:
    return _kept(request, text.encode(), "image/svg+xml")


def _kept(request: Request, body: bytes, media_type: str) -> Response:
    etag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {**PICTURE_HEADERS, "etag": etag}
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def _missing() -> Response:
    return PlainTextResponse("There is no such picture.\n", 404, {"cache-control": "no-store"})

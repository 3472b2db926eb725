"""The demo's photographs: files in gateway/demo/files/photos, listed in files/photos.json."""

from functools import lru_cache
from pathlib import Path

import msgspec

_FILES = Path(__file__).parent / "files"


class Photo(msgspec.Struct, frozen=True):
    title: str
    author: str
    license: str
    width: int
    height: int
    color: str


@lru_cache(1)
def photos() -> dict[str, Photo]:
    """Every photograph, by the name in its address."""
    text = (_FILES / "photos.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Photo])


@lru_cache(64)
def photo_bytes(name: str) -> bytes:
    """The WebP file of a name in `photos`."""
    return (_FILES / "photos" / f"{name}.webp").read_bytes()

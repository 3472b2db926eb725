"""Decodes a picture within limits, and makes the sizes that are stored.

The type is the content's: names and headers of a request don't count. The size is read from the
picture's head, before any pixel is decoded, so a small file of a huge picture costs nothing. Only
the first frame of an animation is used. Everything but the pixels is dropped: the place where a
photograph was taken, comments, and color profiles, which are converted to sRGB.
"""

import io
import warnings
from collections.abc import Mapping
from typing import NamedTuple

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

MOST_BYTES = 10_000_000
MOST_PIXELS = 50_000_000
MOST_PIXELS_OF_WEBP = 25_000_000
"""The decoder of WebP holds four copies of the canvas, of an animation and of a still picture."""
LEAST_SIDE = 16
"""Pixels; an icon of fewer is no pin."""
MOST_RATIO = 10
"""The ratio of the longer side to the shorter side, at most."""
WIDTHS = (236, 474, 736, 1200)
"""Widths in pixels of the stored sizes. No size is wider than the picture."""
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
_QUALITY = 82


class WrongPicture(Exception):
    """The content is no picture that can be stored. The message is for the client."""


class Picture(NamedTuple):
    """A decoded picture. `sizes`: width → WebP. `width` and `height` are of the largest size;
    `color` is the mean color, as #rrggbb."""

    sizes: Mapping[int, bytes]
    width: int
    height: int
    color: str


def decode(content: bytes) -> Picture:
    """Decode a picture and make its sizes: some 0.1 to 2 s of processor time, mostly without the
    interpreter's lock. Raises WrongPicture."""
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(content), formats=FORMATS) as image:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return _sizes(image)
    except UnidentifiedImageError:
        raise WrongPicture(f"this is not a picture: send one of {', '.join(FORMATS)}") from None
    except Image.DecompressionBombError:
        raise WrongPicture(_too_large()) from None
    except WrongPicture:
        raise
    except Exception:  # the library raises errors of many kinds for damaged files
        raise WrongPicture("the picture is damaged: it can't be decoded") from None


def _sizes(image: Image.Image) -> Picture:
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise WrongPicture(_too_large())
    if image.format == "WEBP" and width * height > MOST_PIXELS_OF_WEBP:
        most = MOST_PIXELS_OF_WEBP // 1_000_000
        raise WrongPicture(f"a WebP may have {most} million pixels at most: send a JPEG or PNG")
    if min(width, height) < LEAST_SIDE:
        raise WrongPicture(f"the picture is too small: each side needs {LEAST_SIDE} pixels")
    if max(width, height) > MOST_RATIO * min(width, height):
        raise WrongPicture(f"a side may be {MOST_RATIO} times as long as the other at most")
    image.draft("RGB", (2 * WIDTHS[-1], 2 * WIDTHS[-1]))  # a JPEG is decoded smaller
    ImageOps.exif_transpose(image, in_place=True)
    largest = _largest(_in_srgb(image))
    width, height = largest.size
    sizes = {}
    for wanted in (*(w for w in WIDTHS if w < width), width):
        size = wanted, max(1, round(height * wanted / width))
        file = io.BytesIO()
        made = largest if wanted == width else largest.resize(size, Image.Resampling.LANCZOS)
        made.save(file, "WEBP", quality=_QUALITY, method=4)
        sizes[wanted] = file.getvalue()
    red, green, blue = _mean(largest)
    return Picture(sizes, width, height, f"#{red:02x}{green:02x}{blue:02x}")


def _largest(pixels: Image.Image) -> Image.Image:
    """The largest size, of which all smaller sizes are made: each resize of all pixels copies them
    and takes as long as the largest."""
    width = min(pixels.width, WIDTHS[-1])
    size = width, max(1, round(pixels.height * width / pixels.width))
    return pixels if size == pixels.size else pixels.resize(size, Image.Resampling.LANCZOS)


def _in_srgb(image: Image.Image) -> Image.Image:
    """The pixels as RGB, or as RGBA if some are transparent."""
    if image.mode == "I;16":
        image = _in_8_bits(image)
    profile = image.info.get("icc_profile")
    mode = "RGBA" if image.has_transparency_data else "RGB"
    if profile:
        if mode == "RGBA" or image.mode not in ("RGB", "CMYK", "L"):
            image = image.convert(mode)  # a palette's colors, too, are colors of the profile
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(
                image, source, ImageCms.createProfile("sRGB"), outputMode=mode
            )
            if converted is not None:
                return converted
        except (ImageCms.PyCMSError, OSError):
            pass  # a damaged profile is dropped
    return image if image.mode == mode else image.convert(mode)


def _in_8_bits(image: Image.Image) -> Image.Image:
    """The gray of 16 bits in 8 bits. The library's conversion would make nearly all of it white."""
    gray = image.point(lambda value: value / 256).convert("L")
    if (transparent := image.info.get("transparency")) is not None:
        gray.info["transparency"] = transparent // 256
    return gray


def _mean(image: Image.Image) -> tuple[int, int, int]:
    """The mean color, on white where the picture is transparent."""
    small = image.resize((16, 16), Image.Resampling.BOX)
    if small.mode == "RGBA":
        white = Image.new("RGBA", small.size, "white")
        small = Image.alpha_composite(white, small).convert("RGB")
    red, green, blue = small.resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))  # type: ignore[misc]
    return int(red), int(green), int(blue)


def _too_large() -> str:
    return f"the picture has more than {MOST_PIXELS // 1_000_000} million pixels"

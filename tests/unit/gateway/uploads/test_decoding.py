"""Uploaded pictures are decoded within limits, and keep nothing but their pixels."""

import io
import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image, ImageCms

from gateway.uploads.decoding import FORMATS, MOST_PIXELS, WIDTHS, WrongPicture, decode


def encoded(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_becomes_webp_of_all_smaller_sizes(format: str) -> None:
    picture = decode(encoded(Image.new("RGB", (800, 400), (200, 30, 40)), format))
    assert list(picture.sizes) == [236, 474, 736, 800]
    assert (picture.width, picture.height) == (800, 400)
    for width, content in picture.sizes.items():
        made = opened(content)
        assert (made.format, made.size) == ("WEBP", (width, round(width / 2)))
    red, green, blue = bytes.fromhex(picture.color[1:])
    assert max(abs(red - 200), abs(green - 30), abs(blue - 40)) < 5


def test_a_large_picture_is_stored_smaller_and_a_small_one_as_it_is() -> None:
    large = decode(encoded(Image.new("RGB", (4000, 3000)), "JPEG"))
    assert list(large.sizes) == list(WIDTHS)
    assert (large.width, large.height) == (1200, 900)
    assert list(decode(encoded(Image.new("RGB", (20, 30)))).sizes) == [20]


MEASURED = """
import sys
from pathlib import Path
from gateway.uploads.decoding import decode
decode(sys.stdin.buffer.read())
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")))
"""
"""Prints the most memory of its process. getrusage would count its parent's, before the exec."""


def test_the_pixels_of_a_large_picture_are_copied_at_most_once() -> None:
    side = 7_000
    content = encoded(Image.new("RGB", (side, side)), compress_level=1)
    ran = subprocess.run([sys.executable, "-c", MEASURED], input=content, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 2 * 4 * side * side


def animated(side: int) -> bytes:
    """A WebP of a few bytes: an animation of small frames on a large canvas."""
    frames = [Image.new("RGB", (16, 16), (shade, 0, 0)) for shade in (1, 99, 200)]
    content = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:])
    at = content.index(b"VP8X") + 12
    canvas = (side - 1).to_bytes(3, "little") * 2
    return content[:at] + canvas + content[at + 6 :]


def test_a_webp_takes_no_more_memory_than_other_pictures() -> None:
    """The decoder of WebP holds four copies of the canvas."""
    content = animated(5_000)
    assert len(content) < 1_000
    ran = subprocess.run([sys.executable, "-c", MEASURED], input=content, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    assert int(ran.stdout) < 500_000_000
    with pytest.raises(WrongPicture, match="a WebP may have 25 million pixels at most"):
        decode(animated(5_001))


def test_the_camera_s_orientation_is_applied_and_its_place_is_dropped() -> None:
    image = Image.new("RGB", (300, 100), "white")
    image.paste("red", (0, 0, 150, 100))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees, clockwise
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 0.0)}  # the place
    exif[0x010E] = "a description"
    content = encoded(image, "JPEG", exif=exif, comment=b"a secret", quality=95)
    assert b"a description" in content
    assert b"a secret" in content
    picture = decode(content)
    assert (picture.width, picture.height) == (100, 300)
    made = opened(picture.sizes[100])
    assert dict(made.getexif()) == {}
    assert "comment" not in made.info
    greens = [made.convert("RGB").getpixel((50, y))[1] for y in (40, 260)]  # type: ignore[index]
    assert greens[0] < 60  # red
    assert greens[1] > 200  # white
    assert b"description" not in b"".join(picture.sizes.values())


@pytest.mark.parametrize("format", ["PNG", "WEBP", "JPEG"])
def test_what_is_written_beside_the_pixels_is_dropped(format: str) -> None:
    image, exif = Image.new("RGB", (40, 40), "red"), Image.Exif()
    exif[0x010E] = "a description"
    xmp = b"<x:xmpmeta>a description</x:xmpmeta>"
    damaged = b"no profile, and a description"
    content = encoded(image, format, exif=exif, xmp=xmp, icc_profile=damaged)
    assert b"a description" in content
    [(_, stored)] = decode(content).sizes.items()
    assert b"description" not in stored
    assert opened(stored).info.keys() <= {"loop", "background", "timestamp", "duration"}


def test_transparency_stays_and_its_color_is_on_white() -> None:
    picture = decode(encoded(Image.new("RGBA", (100, 100), (0, 0, 0, 0))))
    assert picture.color == "#ffffff"
    assert opened(picture.sizes[100]).mode == "RGBA"


def test_the_first_frame_of_an_animation_counts() -> None:
    frames = [Image.new("RGB", (50, 50), color) for color in ("lime", "blue")]
    content = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert opened(content).n_frames == 2  # type: ignore[attr-defined]
    picture = decode(content)
    assert picture.color == "#00ff00"
    assert getattr(opened(picture.sizes[50]), "n_frames", 1) == 1


def test_colors_of_another_profile_are_converted() -> None:
    gray = Image.new("CMYK", (40, 40), (0, 0, 0, 128))
    assert decode(encoded(gray, "JPEG")).width == 40
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    profiled = decode(encoded(Image.new("RGB", (40, 40), (10, 200, 90)), "PNG", icc_profile=lab))
    assert profiled.color == "#0ac85a"
    assert "icc_profile" not in opened(profiled.sizes[40]).info


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_the_profile_counts_also_with_transparency_and_with_a_palette(mode: str) -> None:
    """The profile shows red as blue."""
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    other = srgb.replace(b"rXYZ", b"sXYZ").replace(b"bXYZ", b"rXYZ").replace(b"sXYZ", b"bXYZ")
    red = Image.new("RGBA", (40, 40), (255, 0, 0, 128 if mode == "RGBA" else 255)).convert(mode)
    picture = decode(encoded(red, "PNG", icc_profile=other))
    *color, alpha = opened(picture.sizes[40]).convert("RGBA").getpixel((20, 20))  # type: ignore[misc]
    assert (color[0] < 5, color[2] > 250) == (True, True)
    assert abs(alpha - (128 if mode == "RGBA" else 255)) < 5


def test_gray_of_16_bits_keeps_its_shades() -> None:
    gray = Image.new("I;16", (60, 30), 100 * 256)
    gray.paste(0, (0, 0, 20, 30))
    for options, alpha in (({}, 255), ({"transparency": 0}, 0)):
        picture = decode(encoded(gray, "PNG", **options))
        made = opened(picture.sizes[60]).convert("RGBA")
        assert made.getpixel((10, 15))[3] == alpha  # type: ignore[index]
        red, green, blue, opaque = made.getpixel((45, 15))  # type: ignore[misc]
        assert max(abs(it - 100) for it in (red, green, blue)) < 5
        assert opaque == 255


def png(width: int, height: int, pixels: bytes = b"") -> bytes:
    """A PNG that announces a size, whatever its pixels are."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


WHOLE = encoded(Image.effect_noise((300, 300), 50), "JPEG")
WRONG = {
    "text": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture: send one of JPEG"),
    "a page": (b"GIF89a<script>alert(1)</script>", "not a picture"),
    "a program": (b"\x7fELF" + bytes(100), "not a picture"),
    "a bitmap": (encoded(Image.new("RGB", (40, 40)), "BMP"), "not a picture"),
    "huge": (png(60_000, 60_000), "more than 50 million pixels"),
    "over the limit": (png(10_000, MOST_PIXELS // 10_000 + 1), "more than 50 million pixels"),
    "too small": (encoded(Image.new("RGB", (15, 40))), "each side needs 16 pixels"),
    "a line": (encoded(Image.new("RGB", (500, 49))), "10 times as long"),
    "cut": (WHOLE[: len(WHOLE) // 2], "damaged"),
    "without pixels": (png(100, 100), "damaged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_picture_is_refused_with_a_reason(name: str) -> None:
    content, message = WRONG[name]
    with pytest.raises(WrongPicture, match=message):
        decode(content)


def test_every_damaged_picture_is_refused_or_decoded() -> None:
    """No byte of a file may raise anything else."""
    for format in FORMATS:
        whole = bytearray(encoded(Image.effect_noise((64, 64), 60).convert("RGB"), format))
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            for flipped in (0xFF, 0x01):
                damaged = bytearray(whole)
                damaged[at] ^= flipped
                try:
                    decode(bytes(damaged))
                except WrongPicture:
                    continue

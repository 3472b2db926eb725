"""The pictures of the explanation pages are what docs/figures.py draws."""

import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
DRAWN: dict[str, str] = runpy.run_path(str(DOCS / "figures.py"))["figures"]()


def test_the_committed_pictures_are_what_the_command_draws() -> None:
    committed = {path.stem: path.read_text() for path in (DOCS / "figures").glob("*.svg")}
    assert committed == DRAWN


def test_every_picture_has_a_title_and_asks_no_host() -> None:
    for svg in DRAWN.values():
        root = ET.fromstring(svg)
        assert root.findtext("{http://www.w3.org/2000/svg}title")
        assert svg.count("http") == 1  # the namespace


def test_every_picture_is_on_a_page() -> None:
    text = "".join(path.read_text() for path in (DOCS / "explanation").glob("*.md"))
    assert [name for name in DRAWN if f"../figures/{name}.svg" not in text] == []

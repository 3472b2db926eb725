"""Imported bookmarks are read as Chromium reads them: every named reference, and tags that are
broken at random."""

import html
import json
import random
import re
import subprocess
from html.entities import html5
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gateway.operate.imports import references
from gateway.operate.imports.bookmarks import read
from gateway.operate.imports.events import Link
from gateway.operate.imports.markup import StartTag, Tokenizer
from tests.outside.node_tools import ensure_chromium

FOLLOWED_BY = ("", "=", "x", "Z", "7", ";", " ", "-", "&", "é")
NUMBERED = [
    *(f"&#{number}" for number in (0, 1, 9, 38, 128, 129, 150, 159, 160, 233, 55296, 57343, 65534)),
    *("&#1114111", "&#1114112", "&#99999999999", "&#000000000000038", "&#", "&#x", "&#xg", "&#XaB"),
    *(f"&#x{number:x}" for number in range(0x80, 0xA0)),
]
SEED, SOUPS = 20_261_127, 3000
PIECES = (
    *(
        "<x-a ",
        "<x-a",
        "<X-A\n",
        "</x-a>",
        "</x-a ",
        "</>",
        "</3>",
        "</",
        "<",
        "<3",
        "< ",
        "/",
        ">",
    ),
    *(
        "href",
        "HREF",
        " href=",
        " b ",
        "=",
        "==",
        "'",
        '"',
        " ",
        "\n",
        "\t",
        "\f",
        "x",
        "&amp",
        ";",
    ),
    *("&copy=", "&copy", "&not", "in;", "&#38", "&#x26;", "<!--", "-->", "--!>", "->", "-", "!"),
    *("<!", "<?", "<!DOCTYPE", "<![CDATA[", "]]>", "<b", "<b>", "</b>", "é", "茶"),
)


def in_chromium(script: str, data: object, folder: Path) -> Any:
    """The value of a script's function `run`, called with the data in a page of Chromium."""
    page = folder / "page.html"
    page.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><script>{script};"
        f"const data = JSON.parse(decodeURIComponent({json.dumps(_escaped(data))}));"
        "const found = encodeURIComponent(JSON.stringify(run(data)));"
        "document.write(`<pre id=found>${found}</pre>`)</script>"
    )
    command = [ensure_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*command, f"--user-data-dir={folder / 'profile'}", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=270,
    )
    found = re.search('<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:]
    return json.loads(unquote(html.unescape(found[1])))


def _escaped(data: object) -> str:
    return "".join(f"%{byte:02X}" for byte in json.dumps(data).encode())


def test_every_reference_resolves_as_in_chromium(tmp_path: Path) -> None:
    names = [f"&{name.removesuffix(';')}" for name in html5]
    given = [
        f"?a{reference}{after}"
        for reference in dict.fromkeys([*names, *NUMBERED])
        for after in FOLLOWED_BY
    ]
    script = """
        function run(given) {
            const parse = text => new DOMParser().parseFromString(text, 'text/html');
            const attributes = given.map(text => `<x-a title="${text}">`).join('');
            const texts = given.map(text => `<x-a>${text}</x-a>`).join('');
            return [
                [...parse(attributes).querySelectorAll('x-a')].map(found => found.title),
                [...parse(texts).querySelectorAll('x-a')].map(found => found.textContent),
            ];
        }"""
    attributes, texts = in_chromium(script, given, tmp_path)
    assert len(html5) == 2231
    assert len(attributes) == len(texts) == len(given)
    assert {g: references.in_attribute(g) for g in given} == dict(
        zip(given, attributes, strict=True)
    )
    assert {g: references.in_text(g) for g in given} == dict(zip(given, texts, strict=True))


def test_broken_tags_are_read_as_in_chromium(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    given = ["".join(rng.choices(PIECES, k=rng.randrange(3, 25))) for _ in range(SOUPS)]
    script = """
        function run(given) {
            return given.map(text => {
                const found = new DOMParser().parseFromString('<body>' + text, 'text/html');
                return [...found.querySelectorAll('x-a')].map(
                    tag => [...tag.attributes].map(each => [each.name, each.value]));
            });
        }"""
    expected = in_chromium(script, given, tmp_path)
    assert sum(map(len, expected)) > SOUPS / 6
    for text, tags in zip(given, expected, strict=True):
        tokenizer = Tokenizer()
        tokens = [*tokenizer.feed(text), *tokenizer.close()]
        found = [
            [[name, value or ""] for name, value in token.attributes().items()]
            for token in tokens
            if isinstance(token, StartTag) and token.name == "x-a"
        ]
        assert found == tags, text


def test_an_address_of_a_bookmark_arrives_as_in_chromium(tmp_path: Path) -> None:
    address = "https://example.org/?q=tea&region=eu&currency=EUR&section=green&times=1&copy=2&amp;x"
    pages = [
        f"<DL><DT><A HREF={quote}{address}{quote}>tea &amp cake &copy2</A>" for quote in "\"' "
    ]
    script = """
        function run(pages) {
            const parse = page => new DOMParser().parseFromString(page, 'text/html');
            const links = pages.map(page => parse(page).querySelector('a'));
            return links.map(link => [link.getAttribute('href'), link.textContent]);
        }"""
    found = [link for page in pages for link in read([page.encode()]) if isinstance(link, Link)]
    assert [[link.href, link.title] for link in found] == in_chromium(script, pages, tmp_path)

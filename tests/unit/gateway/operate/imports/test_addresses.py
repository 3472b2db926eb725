"""Addresses of bookmarks: links, texts that can't be links, and browsers' own things."""

import pytest

from gateway.operate.imports.addresses import Address, read, without_credentials


@pytest.mark.parametrize(
    ("given", "link"),
    [
        ("https://example.org/?q=tea&region=eu", "https://example.org/?q=tea&region=eu"),
        ("HTTPS://Example.com/A b\n", "https://Example.com/A%20b"),
        ("http:example.com", "http://example.com"),
        ("https:\\\\example.com\\a\\b?c\\d", "https://example.com/a/b?c%5Cd"),
        ("https://例え.jp/茶?q=\u3000x\u202e", "https://例え.jp/茶?q=%E3%80%80x%E2%80%AE"),
        ("https://xn--r8jz45g.jp/%zz%", "https://xn--r8jz45g.jp/%zz%"),
        ("feed://example.com/rss", "http://example.com/rss"),
        ("feed:https://example.com/rss", "https://example.com/rss"),
        ("https://example.com/@ann?mail=a@b.c#@", "https://example.com/@ann?mail=a@b.c#@"),
    ],
)
def test_a_web_address_is_read_as_a_browser_reads_it(given: str, link: str) -> None:
    assert read(given) == Address(link)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("/tea", "no http:// or https://"),
        ("?abc", "no http:// or https://"),
        ("www.example.org/tea", "no http:// or https://"),
        ("localhost:8000/tea", "no http:// or https://"),
        ("mailto:ann@example.org", "no http:// or https://"),
        ("ftp://example.org/tea", "no http:// or https://"),
        ("magnet:?xt=urn:btih:0", "no http:// or https://"),
        (f"https://example.org/{'x' * 2048}", "2,048"),
        ("https://example.org:99999/", "host or port"),
        ("https://[::1/", "host or port"),
    ],
)
def test_an_address_that_is_no_link_stays_as_text(given: str, why: str) -> None:
    found = read(given)
    assert found.text == given
    assert why in found.fault


@pytest.mark.parametrize(
    "given",
    [
        *("", " ", "https://", "http:///", "about:blank", "DATA:text/html,x", "place:sort=8"),
        *("java\nscript:alert(1)", "vbscript:x", "chrome://flags", "file:///etc/passwd"),
    ],
)
def test_code_and_things_inside_one_browser_are_left_out(given: str) -> None:
    found = read(given)
    assert found.text == ""
    assert "no web address" in found.fault


@pytest.mark.parametrize(
    "given",
    [
        *("https://ann:hunter2@example.org/", "https://ann@example.org", "ftp://ann:hunter2@e.x"),
        *("https:/\\ann:hunter2@example.org\\x", f"https://ann:hunter2@e.x/{'x' * 3000}"),
        # not escaped, so that a browser takes the password's beginning for a port
        *("https://ann:hunter2#x@e.x/", "https://ann:hunter2/x@e.x/", "ftp://ann:hunter2?@e.x"),
        *("https://ann:h@hunter2#@e.x/", "//ann:hunter2#@e.x/", "smb:\\\\ann:hunter2@e.x\\tea"),
    ],
)
def test_a_password_in_an_address_is_neither_imported_nor_shown(given: str) -> None:
    found = read(given)
    assert found.text == ""
    assert "user name or a password" in found.fault
    assert "hunter2" not in found.fault


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("see https://ann:pw@host/x ok", "see … ok"),
        ("<https://ann:pw@host/>", "<…>"),
        ("https://token@host/x is mine", "… is mine"),
        ("https://ann:p/w@host/ x", "… x"),
        ("postgres://ann:pw@db/tea x", "… x"),
        ("https://archive.e.x/2020/https://ann:pw@host/ x", "… x"),
        (" https://ann:pw@host ", ""),
        ("ann@example.org", "ann@example.org"),
        ("ssh://git@example.org/x", "ssh://git@example.org/x"),
        ("https://e.x/@ann?mail=a:b@c.d", "https://e.x/@ann?mail=a:b@c.d"),
        (
            "https://archive.e.x/2020/http://e.x:80/@ann",
            "https://archive.e.x/2020/http://e.x:80/@ann",
        ),
        ("12:30 @ the tea house", "12:30 @ the tea house"),
    ],
)
def test_a_text_for_people_has_no_address_with_a_password(text: str, safe: str) -> None:
    assert without_credentials(text) == safe


def test_a_password_in_an_address_within_an_address_is_found() -> None:
    found = read("https://archive.example.org/2020/https://ann:leaves@example.com/")
    assert found.text == ""
    assert "leaves" not in found.fault

"""Sorts the addresses of bookmarks: links, texts that can't be links, and browsers' own things."""

import re
from typing import NamedTuple
from urllib.parse import quote

from datasources.errors import BadInput
from feed_engine.transactions import validation

_BREAKS = re.compile(r"[\t\r\n]")
_WEB = re.compile(r"(https?):[/\\]*", re.IGNORECASE)
_FEED = re.compile(r"feed:(//|(?=https?:))", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_OF_BROWSERS = frozenset(
    {
        *("about", "blob", "brave", "chrome", "chrome-extension", "data", "edge", "file"),
        *("filesystem", "javascript", "livescript", "moz-extension", "opera", "place"),
        *("resource", "safari-extension", "vbscript", "view-source", "vivaldi", "wyciwyg"),
    }
)
"""Schemes of code and of things inside one browser. Nobody else can follow such a link."""
_ESCAPED = re.compile(rf"[\s\x00-\x20\x7f]|{validation.UNSEEN.pattern}")
_PLAIN = re.compile(r"(?=[!-~]{1,2000}\Z)[a-zA-Z0-9.-]+(?:[/?#][!-\[\]-~]*)?")
"""A host and a path that need no closer look."""
_REST = r"[^\s<>\"']"
_IN_TEXT = re.compile(
    rf"(?:https?|ftps?):[/\\]{{2}}{_REST}+|[a-z][a-z0-9+.-]*:[/\\]{{2}}[^\s/@]*:{_REST}+",
    re.IGNORECASE,
)
"""An address in a text for people. `ssh://git@example.org` has no password, and is not meant."""
_INSIDE = re.compile(r"(?:https?|ftps?):/{1,2}[^/?#@]*:[^/?#@]*@", re.IGNORECASE)
"""A user name and a password in an address that is a part of another address."""
_BLANK_IN_HOST = re.compile(r"[^\s/\\?#]*\s+[^\s/\\?#]")
_PORT = re.compile(r":([^:\]]+)\Z")
_SHOWN = 60


class Address(NamedTuple):
    """The address of a bookmark. `fault` says why it is not a link. `text` is empty if the bookmark
    is left out; otherwise the address is a link, or with a fault a text for people."""

    text: str
    fault: str = ""


def read(text: str) -> Address:
    """The address as a browser reads it: without white space around it and line breaks in it."""
    address = _BREAKS.sub("", text.strip())
    if feed := _FEED.match(address):
        address = ("http://" if feed[1] else "") + address[feed.end() :]
    web = _WEB.match(address)
    if web is None:
        scheme = _SCHEME.match(address)
        if not address or (scheme is not None and scheme[1].lower() in _OF_BROWSERS):
            return Address("", f"{address[:_SHOWN]!r} is no web address: link left out")
        if told := credentials(address):
            return Address("", told)
        return _kept(address, "it has no http:// or https://")
    given = address
    rest = _escaped(given[web.end() :])
    if _PLAIN.fullmatch(rest) and not ("@" in rest and _INSIDE.search(rest)):
        return Address(f"{web[1].lower()}://{rest}")
    if not rest.strip("/"):
        return Address("", f"{address[:_SHOWN]!r} is no web address: link left out")
    address = f"{web[1].lower()}://{rest}"
    if told := credentials(address):
        return Address("", told)
    if _BLANK_IN_HOST.match(given, web.end()):
        return _kept(given, "its host or port is wrong")
    if len(address) > validation.URL_LENGTH:
        return _kept(address, f"it has over {validation.URL_LENGTH:,} characters")
    try:
        validation.link(address, "link")
    except BadInput:
        return _kept(address, "its host or port is wrong")
    return Address(address)


def credentials(address: str) -> str | None:
    """The fault of an address with a user name or a password; None if it has neither.

    An unescaped "/", "?" or "#" in a password ends the host for a browser, which takes the
    beginning of the password for a port. Such an address can't be a link, but its text must not be
    shown either."""
    _, slashes, rest = address.replace("\\", "/").partition("//")
    end = re.search("[/?#]", rest)
    authority, tail = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    _, at, host = authority.rpartition("@")
    wrong = "@" in tail and (_has_a_wrong_port(authority) or _INSIDE.search(tail))
    if not slashes or not (at or wrong):
        return None
    where = "" if "@" in tail else f" on {host[:_SHOWN]!r}"  # it may be a piece of the password
    return (
        f"the address{where} holds a user name or a password, which everybody who sees the pin "
        "could read: link left out"
    )


def without_credentials(text: str) -> str:
    """A text for people with "…" in the place of each address that has a user name or a password;
    empty if the text is such an address."""
    if "@" not in text:
        return text
    safe = _IN_TEXT.sub(lambda found: "…" if credentials(found[0]) else found[0], text)
    return safe if safe.strip() != "…" else ""


def _has_a_wrong_port(authority: str) -> bool:
    port = _PORT.search(authority)
    return port is not None and not (port[1].isdecimal() and int(port[1][:6]) < 1 << 16)


def _kept(address: str, why: str) -> Address:
    shown = validation.shown(address)
    fault = f"{shown} can't be a link, because {why}: the pin has it in its description instead"
    return Address(address, fault)


def _escaped(rest: str) -> str:
    """The host and all after it, with the characters escaped that a browser escapes. A backslash
    in a path is a slash."""
    if not rest.isascii() or not rest.isprintable() or " " in rest:
        rest = _ESCAPED.sub(lambda found: quote(found[0]), rest)
    if "\\" not in rest:
        return rest
    end = re.search("[?#]", rest)
    path = end.start() if end else len(rest)
    return rest[:path].replace("\\", "/") + rest[path:].replace("\\", "%5C")

"""The URLs of stores: strictly read, and shown without their passwords.

A password that is not percent-encoded ends a URL's authority early: in `redis://:pa#ss@host/0`
Python's parser takes `:pa` for the host, and repeats it in its errors. So everything before the
last `@` counts as secret, and no message has a text of Python's parser.
"""

import re
from collections.abc import Collection
from urllib.parse import SplitResult, parse_qsl, urlsplit

LOCAL = ("file", "sqlite", "rocksdb", "memory", "tantivy")
"""Schemes of URLs that have only a path, or nothing, after `://`: never a password."""
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_ENCODED = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*")  # RFC 3986, and @
_USER = re.compile(r"([A-Za-z0-9._-]*):[^/?#]*")
_SERVER = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
_SECRET_OPTION = re.compile(r"([?&][^=&]*(?:pass|secret|token|auth)[^=&]*=)[^&]*", re.IGNORECASE)
_IN_TEXT = re.compile(r"(://)[^\n]*@")
ENCODE = "percent-encode the user and the password (/ as %2F, # as %23, ? as %3F, % as %25)"


class BadUrl(ValueError):
    """A URL with a known scheme but a wrong part; the message names the part."""


def mask(url: str) -> str:
    """The URL for a message: `***` instead of everything before the last `@`, except a user name in
    front of a colon, and instead of secrets among its options."""
    scheme, colon, rest = url.partition("://")
    if not colon:
        return url if "@" not in url else f"***@{url.rpartition('@')[2]}"
    if scheme in LOCAL and rest.startswith("/"):
        return url
    secret, at, tail = rest.rpartition("@")
    user = _USER.fullmatch(secret)
    shown = f"{user[1]}:***@" if user and user[1] else "***@"
    tail = _SECRET_OPTION.sub(r"\1***", tail)
    return f"{scheme}://{shown if at else ''}{tail}"


def masked_text(text: str) -> str:
    """A text in which everything between a scheme and the last `@` of its line is masked."""
    return _SECRET_OPTION.sub(r"\1***", _IN_TEXT.sub(r"\1***@", text))


def address(url: str) -> str:
    """The host and port of the URL, or its path; without user and password."""
    rest = url.partition("://")[2]
    if url.partition("://")[0] not in LOCAL:
        rest = rest.rpartition("@")[2]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return authority or re.split(r"[?#]", rest, maxsplit=1)[0]


def split(url: str) -> SplitResult:
    """The parts of a URL whose text before the last `@` is a user and a password; without a scheme,
    all parts are empty. Raises BadUrl."""
    scheme, colon, rest = url.partition("://")
    if not colon or not _SCHEME.fullmatch(scheme):
        return SplitResult("", "", "", "", "")
    if scheme in LOCAL and "#" in rest:
        raise BadUrl("it has a #: write it as %23")
    if scheme not in LOCAL:
        secret, at, _ = rest.rpartition("@")
        if at and not _ENCODED.fullmatch(secret):
            raise BadUrl(ENCODE)
        if "#" in rest:
            raise BadUrl(f"it has a #: {ENCODE}")
        if not rest.isascii() or not rest.isprintable() or any(c in rest for c in " \\"):
            raise BadUrl("it has a space, a backslash or a character that is not ASCII")
    try:
        return urlsplit(url)
    except ValueError:
        raise BadUrl("not a URL: its host can't be read") from None


def hosts(url: SplitResult, *, port: int = 0) -> list[tuple[str, int]]:
    """The servers of `host:port[,host:port]`. `port` is the default, if one may be missing. Raises
    BadUrl."""
    found = []
    for part in url.netloc.rpartition("@")[2].split(","):
        read = _SERVER.fullmatch(part)
        number = int(read[2]) if read and read[2] else port
        if read is None or not 0 < number < 65536:
            if part.count(":") > 1 and "[" not in part:
                raise BadUrl(f"{part!r} must be [host]:port: an IPv6 address needs brackets")
            raise BadUrl(f"{part!r} must be host:port")
        found.append((read[1].strip("[]"), number))
    return found


def without_login(url: SplitResult, kind: str) -> None:
    """Raises BadUrl for a user and a password in a URL whose server takes none."""
    if "@" in url.netloc:
        raise BadUrl(f"Pinway sends no user and password to {kind}: leave them out")


def options(url: SplitResult, allowed: Collection[str]) -> dict[str, str]:
    """The options after `?`. Raises BadUrl for an option that is not allowed, is there twice, or
    has no value."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(url.query, keep_blank_values=True):
        if name not in allowed:
            which = f"only {', '.join(allowed)}" if allowed else "none"
            raise BadUrl(f"it has an option that Pinway does not know: it takes {which}")
        if name in found or not value:
            raise BadUrl(f"the option {name} needs one value")
        found[name] = value
    return found

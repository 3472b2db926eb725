"""Decides which web pages may open a stream in their visitor's name.

A browser lets any page open a WebSocket to any site, and sends the page's Origin. CORS does not
apply. So a socket is opened only for the gateway's own pages and for the origins of
`http.allowed_origins`. Clients that are no browsers send no Origin.
"""

from collections.abc import Container
from urllib.parse import urlsplit

from gateway.http.requests import Headers


def may_open(headers: Headers, allowed_origins: Container[str], public_url: str) -> bool:
    """Whether the page that opens a socket may do so."""
    origin = headers.get(b"origin")
    if origin is None:
        return True
    text = origin.decode("latin-1")
    if text in allowed_origins:
        return True
    try:
        page = urlsplit(text).netloc.lower()
    except ValueError:
        return False  # such as "http://[": no browser sends it
    if not page:
        return False  # "null": a sandboxed frame, or a file
    host = headers.get(b"host", b"").decode("latin-1")
    return page in (host.lower(), urlsplit(public_url).netloc.lower())

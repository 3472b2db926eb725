"""Refuses GET operations that a web page of another site could send in its visitor's name.

A browser sends a "simple" request to any site without a permission. The page can't read the answer,
but it can send queries from inside a private network, and measure their time. A POST must be JSON,
which isn't simple. A GET from another site in a browser is refused, unless it has a header that
isn't simple: the browser asks for a permission (CORS) before it sends such a header.
"""

from collections.abc import Container

from gateway.http.requests import Headers, Refused

NOT_SIMPLE = (
    b"apollo-require-preflight",
    b"authorization",
    b"graphql-require-preflight",
    b"x-apollo-operation-name",
    b"x-requested-with",
)
"""Headers that a page can send to another site only with that site's permission."""

_SIMPLE = ("", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


def check_get(headers: Headers, allowed_origins: Container[str]) -> None:
    """Raises Refused for a GET that a page of another site may have sent without a permission.

    Browsers say in Sec-Fetch-Site where a request comes from; "none" is a person's own request, for
    example from the address bar. Browsers omit it over plain HTTP, and old browsers don't know it.
    A request without it is accepted only if the client doesn't call itself a browser (all browsers'
    User-Agent begins with Mozilla/, and no page can change that). Other clients have no visitors.
    """
    if any(name in headers for name in NOT_SIMPLE):
        return
    media = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0]
    if media.strip().lower() not in _SIMPLE:
        return
    site = headers.get(b"sec-fetch-site")
    if site in (b"same-origin", b"none"):
        return
    if site is None and not headers.get(b"user-agent", b"").startswith(b"Mozilla/"):
        return
    if headers.get(b"origin", b"").decode("latin-1") in allowed_origins:
        return
    raise Refused(
        403,
        "this GET could come from a page of another site: send it by POST, or with the header "
        "graphql-require-preflight: 1",
        "FORBIDDEN",
    )

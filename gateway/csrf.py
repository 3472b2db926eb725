"""GET operations that a web page of another site could send in its visitor's name: refused.

A browser sends a "simple" request to any site without asking that site first. A page can read
nothing of the answer, but it can send queries from inside a private network, and time them. A POST
must be JSON, which isn't simple. A GET is refused when a browser sends it from another site, unless
it has a header that isn't simple, for which the browser asks first (CORS).
"""

from collections.abc import Container

from gateway.requests import Headers, Refused

NOT_SIMPLE = (
    b"apollo-require-preflight",
    b"authorization",
    b"graphql-require-preflight",
    b"x-apollo-operation-name",
    b"x-requested-with",
)
"""Headers that a page can send to another site only after the browser asked that site."""

_SIMPLE = ("", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


def check_get(headers: Headers, allowed_origins: Container[str]) -> None:
    """Raises Refused for a GET that a page of another site may have sent unasked.

    Browsers say in Sec-Fetch-Site where a request comes from; "none" is a person's own, as from the
    address bar. They leave it out over plain HTTP, and old ones don't know it: a request without
    it is believed only from a client that doesn't call itself a browser (all browsers' User-Agent
    begins with Mozilla/, and no page can change that). Other clients have no visitors.
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

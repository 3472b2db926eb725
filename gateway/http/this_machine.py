"""Decides which requests come from this machine itself: they get metrics, the stores' states, the
demo users' tokens and `extensions.trace` without any password.

A loopback address alone proves nothing: behind a proxy on this machine, every stranger's connection
comes from 127.0.0.1. A proxy that names its clients is recognized by its headers. A proxy that
hides them is recognized by HTTP/1.0 with `Connection: close`, which nginx sends by default, or by
the name of another host; and from then on nobody is on this machine, because the next stranger may
send the name `localhost`. A proxy that changes all of this can't be recognized, so nobody is on
this machine either if the settings say that the gateway is public.

Tools and probes of this machine speak HTTP/1.0, too, without `Connection: close`. Such a request
counts as a stranger's, and shows no proxy.

A browser's request for another host may also come from a page of another site whose name resolves
to this machine (DNS rebinding). It is refused, and shows no proxy: otherwise such a page could read
the gateway in its visitor's name, or take the metrics and the sign-in away from this machine.
"""

import logging
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.http.peers import HOW_TO
from gateway.http.requests import Headers
from gateway.settings import Settings

log = logging.getLogger("pinway")

_OF_PROXIES = (
    *("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-host"),
    *("x-original-forwarded-for", "true-client-ip", "cf-connecting-ip", "cdn-loop"),
    "x-envoy-external-address",
)
_PREFIX_OF_PROXIES = "x-forwarded-"
_OF_BROWSERS = ("accept-language", "origin", "referer", "sec-fetch-site")
"""Headers that browsers send. All send the first one with each request, and no page can omit it."""
_OLD = (b"via", b"1.0 unknown")
"""Marks a request by HTTP/1.0 for `sent_with`, which sees headers alone."""
_LONGEST = 60  # characters of a header that a line of the log repeats


class ThisMachine:
    """Recognizes the requests of this machine. Logs once what hides clients, and what to set."""

    def __init__(self, settings: Settings) -> None:
        self._hosts = {name.lower() for name in settings.http.allowed_hosts} | _own(
            settings.http.host
        )
        self._is_watching = public_address(settings) is None
        """False if the gateway is public, or a proxy that hides its clients was seen."""
        self._has_refused = False

    def sent(self, request: Request) -> bool:
        """Whether the request comes from this machine, and no proxy forwards it."""
        if not self._is_watching or _is_named(request):
            return False
        return self._watched(request) is None and not _is_old(request)

    def sent_with(self, headers: Headers, peer: str) -> bool:
        """Whether a request with these headers, from the peer's address, comes from this machine.
        `refuses` has looked at the request before, if its version or its host could be a sign of a
        proxy."""
        scope = {"type": "http", "client": (peer, 0), "headers": list(headers.items())}
        return bool(peer) and self.sent(Request(scope))

    def refuses(self, scope: Scope) -> bool:
        """Whether to refuse a request: a browser sends it for a host that is not the gateway's.
        Looks in each request for a proxy that hides its clients, because a stranger who asks for
        metrics would show no sign of it."""
        if not self._is_watching or _is_named(request := Request(scope)):
            return False
        if _is_old(request):
            scope["headers"] = [*scope["headers"], _OLD]
        if self._watched(request) is None or not _is_misdirected(request):
            return False
        if not self._has_refused:
            self._has_refused = True
            log.warning(
                "a browser's request for the host %s was refused: this gateway has no such name. "
                "If the gateway is for other people, set http.public_url: %s. If it is this "
                "machine's name, name it in http.allowed_hosts",
                *(_shown(request), HOW_TO),
            )
        return True

    def _watched(self, request: Request) -> str | None:
        """The sign of a proxy in a request. Unless a page may have sent the request, nobody is on
        this machine from then on."""
        sign = self._sign_of_a_proxy(request)
        if sign is not None and not _is_misdirected(request):
            self._is_watching = False
            log.warning(
                "a request from %s %s: a proxy that hides its clients seems to be in front of this "
                "gateway. So nobody gets metrics, states of stores or demo tokens on the public "
                "port until the gateway restarts. Let the proxy send X-Forwarded-For, and set "
                "http.public_url and, for operators, http.admin_port: %s. If there is no proxy, "
                "name the host in http.allowed_hosts",
                *(request.scope["client"][0], sign, HOW_TO),
            )
        return sign

    def is_in_doubt(self, headers: Headers) -> bool:
        """Whether `refuses` must look at a request by HTTP/1.1 with these headers."""
        return (
            self._is_watching
            and b"x-forwarded-for" not in headers
            and host_name(headers.get(b"host", b"").decode("latin-1")) not in self._hosts
        )

    def _sign_of_a_proxy(self, request: Request) -> str | None:
        hosts = request.headers.getlist("host")
        if _is_old(request):
            if "close" in request.headers.get("connection", "").lower():
                return "came by HTTP/1.0, as nginx sends it"
            if not hosts:
                return None
        if len(hosts) == 1 and host_name(hosts[0]) in self._hosts:
            return None
        return f"is for the host {_shown(request)}"


class OperatorsNames:
    """The operators' application on a listener that only this machine reaches. Refuses browsers'
    requests for other hosts: they may be a page's of another site (see above)."""

    def __init__(self, app: ASGIApp, refusal: ASGIApp, settings: Settings) -> None:
        self._app, self._refusal = app, refusal
        allowed, own = settings.http.allowed_hosts, _own(settings.http.admin_host)
        self._hosts = {name.lower() for name in allowed} | own
        self._is_checking = _is_here(settings.http.admin_host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_checking and scope["type"] == "http" and self._is_foreign(Request(scope)):
            await self._refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, request: Request) -> bool:
        named = host_name(request.headers.get("host", "")) in self._hosts
        return not (named or _is_named(request)) and _is_misdirected(request)


def _is_misdirected(request: Request) -> bool:
    """Whether a request for another host may be a page's in a browser of this machine."""
    headers = request.headers
    return not _is_old(request) and (
        headers.get("user-agent", "").startswith("Mozilla/")
        or any(name in headers for name in _OF_BROWSERS)
    )


def _is_old(request: Request) -> bool:
    return bool(request.scope.get("http_version") == "1.0")


def _shown(request: Request) -> str:
    """The request's hosts, as a line of the log has them."""
    return f"{', '.join(request.headers.getlist('host'))[:_LONGEST]!a}"


def _is_named(request: Request) -> bool:
    """Whether the client is another machine: by its address, or by a header of its proxy."""
    if request.client is None or not is_loopback(request.client.host):
        return True
    return any(
        name in _OF_PROXIES or name.startswith(_PREFIX_OF_PROXIES) for name in request.headers
    )


def is_loopback(address: str) -> bool:
    """Whether the address is one of this machine's own, that other machines can't reach."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        return found.ipv4_mapped.is_loopback
    return found.is_loopback


def host_name(host: str) -> str:
    """The name in a Host header, without the port, in lower case."""
    name, colon, port = host.strip().rpartition(":")
    return (name if colon and (port.isdecimal() or not port) else host.strip()).lower()


def public_address(settings: Settings) -> str | None:
    """The setting that says that other machines reach the gateway; None if none does."""
    if settings.http.public_url and not _is_here(urlsplit(settings.http.public_url).hostname or ""):
        return f"http.public_url is {settings.http.public_url}"
    if not _is_here(settings.http.host):
        return f"http.host is {settings.http.host}"
    return None


def _is_here(host: str) -> bool:
    return host.lower() == "localhost" or is_loopback(host)


def _own(host: str) -> set[str]:
    """The listening address, as a Host header has it."""
    return {f"[{host}]" if ":" in host else host.lower()}


def closed(settings: Settings) -> str | None:
    """A line of the log about what nobody gets because of the settings; None if this machine's
    clients get all of it."""
    if settings.http.admin_port:
        operators = ""
    elif settings.production:
        operators = "production is on"
    else:
        operators = public_address(settings) or ""
    if operators:
        return (
            f"{operators}, and there is no http.admin_port: nobody gets /metrics, /statusz or the "
            "stores' states. Set http.admin_port to a free port; it listens on http.admin_host, "
            "which is "
            f"{settings.http.admin_host}"
        )
    return None

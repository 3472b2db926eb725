"""Attacks by requests: very many, with valid or invalid bodies, headers and methods."""

from __future__ import annotations

import gzip
import random
from base64 import urlsafe_b64encode

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.attacks.wire import get, post
from bench.abuse.site import Facts
from gateway.http.console import STATIC

_BOMB = gzip.compress(b'{"query":"{ __typename }","variables":{"a":"' + b"0" * 50_000_000 + b'"}}')
_DEEP = b"[" * 499_000 + b"]" * 499_000
_HUGE = b'{"query":"{ __typename }","variables":{"a":[' + b"[],{}," * 160_000 + b"0]}}"
_KEYS = (
    b'{"query":"{ __typename }","variables":{'
    + b",".join(b'"k%d":%d' % (n, n) for n in range(60_000))
    + b"}}"
)
_FORM = (
    b'--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n'
    b'{"query":"{ __typename }"}\r\n'
)
_UPLOAD = (
    _FORM + b"--x\r\ncontent-disposition: form-data; name=f; filename=f\r\n\r\n" + b"0" * 900_000
)
_EVENTS = {"accept": "text/event-stream, multipart/mixed"}
_BATCH = [{"query": "{ __typename }"}] * 10_000


def _cheap(facts: Facts, number: int) -> bytes:
    return post({"query": "{ __typename }"})


def _invalid_token(facts: Facts, number: int) -> bytes:
    token = f"{facts.stranger[:-6]}{random.getrandbits(24):06x}"
    return post({"query": "{ viewer { id } }"}, {"authorization": f"Bearer {token}"})


def _long_token(facts: Facts, number: int) -> bytes:
    token = "eyJhbGciOiJIUzI1NiJ9." * 1_400 + str(number)
    return post({"query": "{ viewer { id } }"}, {"authorization": f"Bearer {token}"})


def _subscription(facts: Facts, number: int) -> bytes:
    return post({"query": "subscription { homeFeed { visitId } }"}, _EVENTS)


def _page(facts: Facts, number: int) -> bytes:
    target = ("/graphql", "/graphiql/boot.json", "/images/1.svg", "/metrics", "/%2e%2e/x")
    return get("", "accept: text/html\r\n", target=target[number % len(target)])


def _websocket(facts: Facts, number: int) -> bytes:
    return get("", "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n")


def _deep_token(facts: Facts, number: int) -> bytes:
    head = urlsafe_b64encode(b"[" * 9_000 + b"]" * 9_000).decode()
    return post({"query": "{ viewer { id } }"}, {"authorization": f"Bearer {head}.e30.{number}"})


def _asset() -> str:
    """The path of the largest file that every visitor may load."""
    folder = STATIC / "assets"
    return f"/graphiql/assets/{max(folder.iterdir(), key=lambda path: path.stat().st_size).name}"


def _client_page(facts: Facts, number: int) -> bytes:
    target = ("/", "/following", f"/user/{number}", f"/pin/{number}", "/web/index.html", "/docs/")
    return get("", target=target[number % len(target)])


def _picture(facts: Facts, number: int) -> bytes:
    return get("", target=f"/images/avatars/user_{number}.svg")


def _ranges(facts: Facts, number: int) -> bytes:
    parts = ",".join(f"{4 * n}-{4 * n + 1}" for n in range(100 if number % 2 else 2_500))
    return get("", f"range: bytes={parts}\r\n", target=_FILE)


def _preflight(facts: Facts, number: int) -> bytes:
    asked = ",".join(f"x-{n}" for n in range(5_000))
    lines = (
        f"origin: https://{number}.example\r\naccess-control-request-method: POST\r\n"
        f"access-control-request-headers: {asked[:30_000]}\r\n"
    )
    return get("", lines, method="OPTIONS")


_FILE = _asset()

ATTACKS: list[Attack] = [
    flood("cheap operations on 256 connections", _cheap, 256, anywhere=True),
    flood("a connection for each request", _cheap, anywhere=True, keep=False),
    flood("deep JSON of 1 MB", lambda f, n: post(_DEEP), 8, anywhere=True),
    flood("lists of variables of 1 MB", lambda f, n: post(_HUGE), 8, anywhere=True),
    flood("60,000 variables", lambda f, n: post(_KEYS), 8, anywhere=True),
    flood("a batch of 10,000 operations", lambda f, n: post(_BATCH), 8, anywhere=True),
    flood(
        "gzip of 50 MB",
        lambda f, n: post(_BOMB, {"content-encoding": "gzip"}),
        anywhere=True,
    ),
    flood(
        "uploads of 1 MB",
        lambda f, n: post(_UPLOAD, {"content-type": "multipart/form-data; boundary=x"}),
        8,
        anywhere=True,
    ),
    flood("subscriptions", _subscription, 64),
    flood("HEAD", lambda f, n: get("{ __typename }", method="HEAD"), anywhere=True),
    flood(
        "OPTIONS of other origins",
        lambda f, n: get(
            "",
            "origin: https://a.example\r\naccess-control-request-method: POST\r\n",
            method="OPTIONS",
        ),
        anywhere=True,
    ),
    flood("tokens that are not valid", _invalid_token),
    flood("tokens of 30 KB", _long_token),
    flood("pages and files", _page),
    flood("tokens whose heads nest deep", _deep_token),
    flood(
        "Accept headers of 30 KB",
        lambda f, n: post({"query": "{ __typename }"}, {"accept": f"a/{n}," * 3_000}),
        anywhere=True,
    ),
    flood(
        "100 headers",
        lambda f, n: post({"query": "{ __typename }"}, {f"x-{i}": f"{n}" * 40 for i in range(95)}),
        anywhere=True,
    ),
    flood(
        "URLs that are no cache's",
        lambda f, n: get("", target=f"/graphql?query=%7B__typename%7D&{n}={'x' * 15_000}"),
        anywhere=True,
    ),
    flood("pages of the web client", _client_page, 64),
    flood("the largest file", lambda f, n: get("", target=_FILE), 64),
    flood("pictures of unknown users", _picture, 64),
    flood("ranges of a file", _ranges),
    flood("preflights of 30 KB", _preflight, anywhere=True),
    flood(
        "targets that are no URL",
        lambda f, n: get("", target="http://[::1/"),
        anywhere=True,
        keep=False,
    ),
    flood("upgrades to WebSocket", _websocket, anywhere=True),
    flood(
        "requests that are not HTTP",
        lambda f, n: b"\x16\x03\x01" * 200 + b"\r\n\r\n",
        anywhere=True,
    ),
]

"""Attacks by requests: bodies, headers and methods, valid or not, and very many of them."""

from __future__ import annotations

import gzip
import random

from bench.abuse.attacks.attacker import Attack, flood
from bench.abuse.site import Facts
from bench.abuse.wire import get, post

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
    flood("upgrades to WebSocket", _websocket, anywhere=True),
    flood(
        "requests that are not HTTP",
        lambda f, n: b"\x16\x03\x01" * 200 + b"\r\n\r\n",
        anywhere=True,
    ),
]

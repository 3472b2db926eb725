"""Tokens of another issuer are verified with its public keys, which may change while it is away."""

from __future__ import annotations

import asyncio
import hmac
import io
import json
import time
from base64 import urlsafe_b64encode
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib.request import Request

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from datasources.errors import ConfigError, StoreUnavailable, Unauthenticated
from gateway.http import issuer_keys
from gateway.http.auth import Tokens
from gateway.http.issuer import Issuer
from gateway.http.issuer_keys import AGAIN, FRESH, MOST_TRIED, IssuerKeys, Redirects
from tests.issuer import ALL, NAME, OTHER, PRIVATE, USER, key_set, member, signed

pytestmark = pytest.mark.anyio
A_DAY = 86_400.0
"""Seconds. The tokens' times are set when the tests are collected, which may be an hour before."""


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def issuer_of(path: Path, text: bytes = ALL, claim: str = "sub", **options: Any) -> Issuer:
    (path / "keys.json").write_bytes(text)
    return Issuer(NAME, IssuerKeys(str(path / "keys.json"), **options), claim)


async def viewer(issuer: Issuer, authorization: str) -> int | None:
    """The id of the user whom the token names."""
    token = await issuer.read(authorization)
    assert token is None or not token.is_own
    return token and token.viewer_id


class Site:
    """An address of keys that a test controls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.text: bytes | OSError = ALL
        self.asked = 0
        monkeypatch.setattr(issuer_keys, "_download", self._answer)

    def _answer(self, address: str) -> bytes:
        self.asked += 1
        if isinstance(self.text, OSError):
            raise self.text
        return self.text


@pytest.mark.parametrize("algorithm", PRIVATE)
async def test_each_algorithm_names_the_viewer(tmp_path: Path, algorithm: str) -> None:
    assert await viewer(issuer_of(tmp_path), signed(algorithm)) == USER


async def test_another_claim_may_name_the_viewer(tmp_path: Path) -> None:
    issuer = issuer_of(tmp_path, claim="pinway_user")
    assert await viewer(issuer, signed(sub="auth0|5", pinway_user=str(USER))) == USER
    with pytest.raises(Unauthenticated, match="no pinway_user"):
        await viewer(issuer, signed())
    with pytest.raises(Unauthenticated, match="pinway_user is not the id of a user"):
        await viewer(issuer, signed(pinway_user="auth0|5"))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"exp": time.time() - A_DAY}, "expired"),
        ({"exp": None}, "no exp"),
        ({"exp": 10**400}, "not valid"),
        ({"iss": None}, "no iss"),
        ({"iss": "https://other.example"}, "not for this gateway"),
        ({"aud": None}, "no aud"),
        ({"aud": "another service"}, "not for this gateway"),
        ({"nbf": time.time() + A_DAY}, "not valid"),
        ({"private": OTHER}, "not valid"),
        ({"kid": "unknown"}, "not one of its issuer's"),
        ({"sub": "1"}, "sub is not the id of a user"),
    ],
)
async def test_a_wrong_token_is_refused_with_its_reason(
    tmp_path: Path, claims: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unauthenticated, match=message):
        await viewer(issuer_of(tmp_path), signed(**claims))


async def test_a_public_key_is_no_secret(tmp_path: Path) -> None:
    """A public key is known to everybody: tokens signed with it as a secret are refused."""

    def coded(value: object) -> str:
        return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    claims = {"iss": NAME, "aud": "pinway", "sub": str(USER), "exp": time.time() + 60}
    for algorithm in ("HS256", "ES256", "none"):
        text = f"{coded({'alg': algorithm, 'kid': 'ES256'})}.{coded(claims)}"
        for secret in (ALL, json.dumps(member("ES256", PRIVATE["ES256"], "ES256")).encode()):
            made = hmac.digest(secret, text.encode(), "sha256")
            token = f"Bearer {text}.{urlsafe_b64encode(made).rstrip(b'=').decode()}"
            try:
                assert await viewer(issuer_of(tmp_path), token) is None
            except Unauthenticated:
                continue


async def test_a_claim_that_is_a_number_is_no_id(tmp_path: Path) -> None:
    issuer = issuer_of(tmp_path, claim="pinway_user")
    with pytest.raises(Unauthenticated, match="pinway_user is not the id of a user"):
        await viewer(issuer, signed(pinway_user=USER))


@pytest.mark.parametrize("header", ['{"alg": []}', '{"alg": {}}', "[]", "1", '{"alg": null}'])
async def test_a_header_of_another_shape_is_no_token_of_the_issuer(
    tmp_path: Path, header: str
) -> None:
    coded = urlsafe_b64encode(header.encode()).rstrip(b"=").decode()
    assert await viewer(issuer_of(tmp_path), f"Bearer {coded}.e30.x") is None


async def test_the_gateways_own_tokens_are_left_to_the_gateway(tmp_path: Path) -> None:
    own = Tokens("a secret that is as long as a key has to be", 1).issue(USER)
    assert await viewer(issuer_of(tmp_path), f"Bearer {own}") is None
    assert await viewer(issuer_of(tmp_path), "Bearer " + "x" * 9_000) is None


async def test_the_only_key_needs_no_id(tmp_path: Path) -> None:
    issuer = issuer_of(tmp_path, key_set(member("ES256", PRIVATE["ES256"], "some")))
    assert await viewer(issuer, signed(kid=None)) == USER


@pytest.mark.parametrize("algorithm", PRIVATE)
async def test_a_token_without_an_id_is_of_any_key_of_its_algorithm(
    tmp_path: Path, algorithm: str
) -> None:
    unnamed = [member(name, private, "") for name, private in PRIVATE.items()]
    for one in unnamed:
        del one["kid"]
    for text in (ALL, key_set(*unnamed, member("ES256", OTHER, "other"))):
        assert await viewer(issuer_of(tmp_path, text), signed(algorithm, kid=None)) == USER


async def test_keys_of_one_id_are_all_tried(tmp_path: Path) -> None:
    """RFC 7517, section 4.5: keys of different kinds may have one id."""
    text = key_set(*(member(name, private, "1") for name, private in PRIVATE.items()))
    for algorithm in PRIVATE:
        assert await viewer(issuer_of(tmp_path, text), signed(algorithm, kid="1")) == USER


async def test_a_token_is_tried_with_few_keys(tmp_path: Path) -> None:
    others = [
        member("ES256", ec.generate_private_key(ec.SECP256R1()), "other") for _ in range(MOST_TRIED)
    ]
    issuer = issuer_of(tmp_path, key_set(*others, member("ES256", PRIVATE["ES256"], "ES256")))
    with pytest.raises(Unauthenticated, match="not valid"):
        await viewer(issuer, signed(kid=None))
    assert await viewer(issuer, signed()) == USER


@pytest.mark.parametrize("kid", [None, "one"])
async def test_a_new_key_under_the_same_id_is_read_when_a_token_has_its_signature(
    monkeypatch: pytest.MonkeyPatch, kid: str | None
) -> None:
    site, clock = Site(monkeypatch), Clock()
    site.text = key_set(member("ES256", PRIVATE["ES256"], "one"))
    issuer = Issuer(NAME, IssuerKeys(f"{NAME}/keys", clock=clock), "sub")
    assert await viewer(issuer, signed(kid=kid)) == USER
    site.text = key_set(member("ES256", OTHER, "one"))
    for _ in range(3):
        with pytest.raises(Unauthenticated, match="not valid"):
            await viewer(issuer, signed(private=OTHER, kid=kid))
    assert site.asked == 1
    clock.now += AGAIN
    assert await viewer(issuer, signed(private=OTHER, kid=kid)) == USER
    assert site.asked == 2


async def test_keys_for_other_uses_sign_nothing(tmp_path: Path) -> None:
    other = member("ES256", PRIVATE["ES256"], "ES256", use="enc")
    issuer = issuer_of(tmp_path, key_set(other, member("EdDSA", PRIVATE["EdDSA"], "EdDSA")))
    with pytest.raises(Unauthenticated):
        await viewer(issuer, signed("ES256"))


@pytest.mark.parametrize("more", [{"alg": "none"}, {"kid": ["x"]}, {"kid": {}}, {"kid": 5}])
async def test_a_member_of_another_kind_leaves_the_keys_beside_it(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    odd = member("RS256", PRIVATE["RS256"], "RS256") | more
    issuer = issuer_of(tmp_path, key_set(odd, member("ES256", PRIVATE["ES256"], "some")))
    assert await viewer(issuer, signed(kid=None)) == USER


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"keys": 1}',
        b'{"keys": []}',
        b'{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}',
        b'{"keys": [{"kty": "RSA", "n": "!", "e": "?"}]}',
    ],
)
def test_a_file_without_keys_is_refused_at_the_start(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(ConfigError, match=r"auth\.keys: .*keys\.json"):
        issuer_of(tmp_path, text)


def test_a_file_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        IssuerKeys(str(tmp_path / "none.json"))


async def test_a_new_key_is_read_when_a_token_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    site, clock = Site(monkeypatch), Clock()
    issuer = Issuer(NAME, IssuerKeys(f"{NAME}/keys", clock=clock), "sub")
    assert await viewer(issuer, signed()) == USER
    site.text = key_set(member("ES256", OTHER, "new"))
    clock.now += AGAIN
    assert await viewer(issuer, signed(private=OTHER, kid="new")) == USER
    assert site.asked == 2


async def test_unknown_keys_are_not_looked_up_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, clock = Site(monkeypatch), Clock()
    issuer = Issuer(NAME, IssuerKeys(f"{NAME}/keys", clock=clock), "sub")
    for number in range(50):
        with pytest.raises(Unauthenticated):
            await viewer(issuer, signed(kid=f"forged {number}"))
    assert site.asked == 1


async def test_a_withdrawn_key_is_refused_after_the_next_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, clock = Site(monkeypatch), Clock()
    keys = IssuerKeys(f"{NAME}/keys", clock=clock)
    issuer, token = Issuer(NAME, keys, "sub"), signed()
    assert await viewer(issuer, token) == USER
    site.text = key_set(member("EdDSA", PRIVATE["EdDSA"], "EdDSA"))
    clock.now += FRESH
    assert await viewer(issuer, token) == USER  # the reading has begun, and nobody waits for it
    reading = keys._reading
    assert reading is not None
    await reading
    with pytest.raises(Unauthenticated, match="not one of its issuer's"):
        await viewer(issuer, token)


@pytest.mark.parametrize("fault", [OSError("away"), b"<html>", b'{"keys": []}'])
async def test_keys_outlive_their_issuer(
    monkeypatch: pytest.MonkeyPatch, fault: OSError | bytes
) -> None:
    site, clock = Site(monkeypatch), Clock()
    keys = IssuerKeys(f"{NAME}/keys", clock=clock)
    issuer = Issuer(NAME, keys, "sub")
    assert await viewer(issuer, signed()) == USER
    site.text, clock.now = fault, clock.now + FRESH
    assert await viewer(issuer, signed(exp=time.time() + 90)) == USER
    reading = keys._reading
    assert reading is not None
    await reading
    assert await viewer(issuer, signed(exp=time.time() + 80)) == USER


@pytest.mark.parametrize(
    "answer",
    [
        b"no HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx",
        b"HTTP/1.1 302 Found\r\nlocation: http://[x/\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: ftp://127.0.0.1/x\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_an_answer_that_is_no_http_leaves_the_keys_as_they_were(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        issuer = Issuer(NAME, IssuerKeys(f"http://127.0.0.1:{port}/"), "sub")
        with pytest.raises(StoreUnavailable, match="try again later"):
            await viewer(issuer, signed())


@pytest.mark.parametrize(
    ("origin", "target", "is_followed"),
    [
        ("https://id.example/keys", "https://cdn.example/keys", True),
        ("http://127.0.0.1/keys", "https://id.example/keys", True),
        ("https://id.example/keys", "http://id.example/keys", False),
        ("https://id.example/keys", "ftp://id.example/keys", False),
    ],
)
def test_a_redirect_never_leaves_https(origin: str, target: str, is_followed: bool) -> None:
    """Anybody on the way of a plain request could put keys of their own into the set."""
    asked = (Request(origin), io.BytesIO(), 302, "Found", HTTPMessage(), target)
    if is_followed:
        followed = Redirects().redirect_request(*asked)
        assert followed is not None
        assert followed.full_url == target
    else:
        with pytest.raises(OSError, match="redirect"):
            Redirects().redirect_request(*asked)


async def test_an_issuer_that_was_never_reached_is_no_fault_of_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, clock = Site(monkeypatch), Clock()
    site.text = OSError("away")
    issuer = Issuer(NAME, IssuerKeys(f"{NAME}/keys", clock=clock), "sub")
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="try again later"):
            await viewer(issuer, signed())
    assert site.asked == 1
    site.text = ALL
    clock.now += AGAIN
    assert await viewer(issuer, signed()) == USER

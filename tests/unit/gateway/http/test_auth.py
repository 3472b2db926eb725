"""Verified tokens are remembered, but never beyond their expiry."""

import time
from base64 import urlsafe_b64encode

import jwt
import pytest

from datasources.errors import Unauthenticated
from datasources.ids import Kind, compose
from feed_engine.transactions.blocks import Blocks
from gateway.http import auth
from gateway.http.auth import Tokens

SECRET = "a secret that is as long as a key has to be"
USER = compose(3, Kind.USER, 7)


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def count_verifications(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records every token that is verified from now on."""
    verified: list[str] = []
    decode = jwt.decode

    def counted(token: str, *arguments: object, **options: object) -> object:
        verified.append(token)
        return decode(token, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(auth.jwt, "decode", counted)
    return verified


def test_a_token_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens(SECRET, 1)
    verified = count_verifications(monkeypatch)
    header = f"Bearer {tokens.issue(USER)}"
    assert [tokens.read(header).viewer_id for _ in range(3)] == [USER] * 3
    assert len(verified) == 1


def test_a_remembered_token_ends_with_its_expiry() -> None:
    clock = Clock()
    tokens = Tokens(SECRET, 1, clock=clock)
    header = f"Bearer {tokens.issue(USER)}"
    assert tokens.read(header).viewer_id == USER
    clock.now = int(clock.now) + 3599.5
    assert tokens.read(header).viewer_id == USER
    clock.now += 0.5
    with pytest.raises(Unauthenticated, match="expired"):
        tokens.read(header)


def test_a_sign_out_refuses_a_token_of_its_own_millisecond() -> None:
    """The fractions of the clock and the errors of floating point numbers don't count."""
    first = 1_800_000_000_000
    for at in range(first, first + 1_000):
        tokens = Tokens(SECRET, 1, clock=lambda at=at: (at + 0.6) / 1000)  # type: ignore[misc]
        issued = tokens._verify(tokens.issue(USER)).issued
        assert Blocks(signed_out=at).refuses(issued)
        assert not Blocks(signed_out=at - 1).refuses(issued)


def test_a_token_that_is_not_valid_is_refused_each_time() -> None:
    tokens = Tokens(SECRET, 1)
    forged = Tokens("another secret that is as long as a key", 1).issue(USER)
    assert tokens.read(f"Bearer {tokens.issue(USER)}").viewer_id == USER
    for _ in range(2):
        with pytest.raises(Unauthenticated, match="not valid"):
            tokens.read(f"Bearer {forged}")


@pytest.mark.parametrize(
    "head", [b"[" * 9_000, b'{"alg":"none"}', b'{"alg":"HS512"}', b"\xff", b""]
)
def test_nothing_of_a_forged_token_is_decoded(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    tokens = Tokens(SECRET, 1)
    decoded = count_verifications(monkeypatch)
    for signature in ("AAAA", "", "\xe9", tokens.issue(USER).rpartition(".")[2]):
        token = f"{urlsafe_b64encode(head).decode()}.e30.{signature}"
        with pytest.raises(Unauthenticated, match="not valid"):
            tokens.read(f"Bearer {token}")
    assert decoded == []


def test_no_more_tokens_are_remembered_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_VERIFIED_KEPT", 2)
    tokens = Tokens(SECRET, 1)
    headers = [f"Bearer {tokens.issue(compose(0, Kind.USER, n))}" for n in range(1, 4)]
    verified = count_verifications(monkeypatch)
    for header in (*headers, headers[2], headers[1], headers[0]):
        tokens.read(header)
    assert len(verified) == 4  # the first of all was forgotten


@pytest.mark.parametrize("missing", ["exp", "sub"])
def test_a_token_that_never_ends_or_names_nobody_is_refused(missing: str) -> None:
    claims = {"sub": str(USER), "aud": "pinway", "exp": int(time.time()) + 60}
    del claims[missing]
    with pytest.raises(Unauthenticated, match=f"has no {missing}"):
        Tokens(SECRET, 1).read(f"Bearer {jwt.encode(claims, SECRET, 'HS256')}")


def test_a_token_says_when_it_was_issued_and_from_when_on_it_can_be_renewed() -> None:
    clock = Clock()
    clock.now = round(time.time()) + 0.25
    tokens = Tokens(SECRET, 10, clock=clock)
    token = tokens.read(f"Bearer {tokens.issue(USER)}")
    assert (token.issued, token.is_own) == (clock.now, True)
    assert token.renewable == clock.now - 0.125 + 5 * 3600
    assert token._replace(is_own=False).renewable == float("inf")


def test_a_token_that_does_not_say_when_it_was_issued_is_the_oldest() -> None:
    claims = {"sub": str(USER), "aud": "pinway", "exp": time.time() + 60}
    token = Tokens(SECRET, 1).read(f"Bearer {jwt.encode(claims, SECRET, 'HS256')}")
    assert token.issued == 0

"""Bearer tokens of another issuer, such as an identity provider: a JWT that is signed with one of
the issuer's private keys. One of its claims is the viewer's id, or its subject names the viewer."""

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Sequence
from typing import Any

import jwt
from jwt import PyJWK

from datasources.errors import BadInput, Unauthenticated
from datasources.ids import InvalidId, Kind, parse
from feed_engine.transactions.key_kinds import subject_key
from gateway.http.auth import AUDIENCE, EXPIRED, NOT_VALID, Token, Verified, bearer, issued_at
from gateway.http.issuer_keys import ALGORITHMS, IssuerKeys
from gateway.settings import Settings

LEEWAY = 10
"""Seconds by which the clocks of the issuer and the gateway may differ."""
_MOST, _MOST_HEADER = 8_192, 1_024
"""Characters of a token and of its header: a forged token must not take long to decode."""
_MOST_SUBJECT = 255
"""Characters of a subject, as in OpenID Connect Core 1.0, section 2."""


class Issuer:
    """Reads the tokens of one issuer."""

    def __init__(
        self,
        name: str,
        keys: IssuerKeys,
        claim: str,
        *,
        subjects: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`name` is the claim `iss` of all tokens; `claim` has the id of a user of Pinway. With
        `subjects`, the claim `sub` is a subject of the issuer, never an id, and names the viewer
        of a token without the claim `claim`."""
        self._name, self._keys, self._claim = name, keys, claim
        self.subjects = subjects
        self._required = ["exp", "iss", "aud", "sub" if subjects else claim]
        self._verified, self._generation = Verified(clock), keys.generation

    async def read(self, authorization: str) -> Token | None:
        """The token in an Authorization header; None for a token that is not signed with a private
        key, as the gateway's own tokens. Raises Unauthenticated for an invalid token, and
        StoreUnavailable if the issuer's keys could not be read yet."""
        token = bearer(authorization)
        self._keys.refresh()
        if self._generation != self._keys.generation:  # a key may have been withdrawn
            self._verified.clear()
            self._generation = self._keys.generation
        known = self._verified.get(token)
        if known is None and (header := _header(token)) is not None:
            known = await self._verify(token, header)
            self._verified.put(token, known)
        return known

    async def subject_of(self, token: str) -> str:
        """The key of the subject that a token names (`key_kinds.subject_key`). Raises BadInput, and
        StoreUnavailable if the issuer's keys could not be read yet."""
        try:
            found = await self.read(f"Bearer {token}")
        except Unauthenticated as error:
            raise BadInput(error.message, "token") from None
        if found is None or not found.subject:
            raise BadInput(f"token must be one of {self._name}, with a subject", "token")
        return found.subject

    async def _verify(self, token: str, header: dict[str, object]) -> Token:
        try:
            claims = await self._claims(token, str(header["alg"]), header.get("kid", ""))
            expires = float(claims["exp"]) + LEEWAY
            if self.subjects and (self._claim == "sub" or self._claim not in claims):
                subject = _subject(claims["sub"])
                return Token(
                    viewer_id=None,
                    issued=issued_at(claims),
                    expires=expires,
                    is_own=False,
                    subject=subject_key(self._name, subject),
                )
            named = claims[self._claim]
            # Numbers are refused: many issuers round them to 53 bits.
            viewer_id = parse(named if isinstance(named, str) else "", Kind.USER)
            return Token(viewer_id, issued_at(claims), expires, is_own=False)
        except jwt.MissingRequiredClaimError as error:
            raise Unauthenticated(f"the token has no {error.claim}: get a new one") from None
        except jwt.ExpiredSignatureError:
            raise Unauthenticated(EXPIRED) from None
        except (jwt.InvalidAudienceError, jwt.InvalidIssuerError) as error:
            raise Unauthenticated(f"the token is not for this gateway: {error}") from None
        except InvalidId:
            raise Unauthenticated(
                f"the token's claim {self._claim} is not the id of a user"
            ) from None
        except (jwt.InvalidTokenError, OverflowError):  # the latter: a time of very many digits
            raise Unauthenticated(NOT_VALID) from None

    async def _claims(self, token: str, algorithm: str, id_: object) -> dict[str, Any]:
        """The claims of a token that one of the keys signed. Raises Unauthenticated, and
        InvalidTokenError for claims that are not valid."""
        if not isinstance(id_, str) or not (keys := await self._keys.find(algorithm, id_)):
            raise Unauthenticated("the token's key is not one of its issuer's: get a new one")
        # The issuer may have a new key under the same id, or without one.
        claims = self._signed(token, keys)
        if claims is None:
            claims = self._signed(token, await self._keys.find(algorithm, id_, but=keys))
        if claims is None:
            raise Unauthenticated(NOT_VALID)
        return claims

    def _signed(self, token: str, keys: Sequence[PyJWK]) -> dict[str, Any] | None:
        """The claims of a token that one of these keys signed; None if no key did."""
        for key in keys:
            try:
                return jwt.decode(
                    token,
                    key,
                    [key.algorithm_name],
                    audience=AUDIENCE,
                    issuer=self._name,
                    leeway=LEEWAY,
                    options={"require": self._required},
                )
            except jwt.InvalidSignatureError:
                continue
        return None


def new_issuer(settings: Settings) -> Issuer | None:
    """The issuer that the settings name; None without one. Raises ConfigError."""
    auth = settings.auth
    if not auth.keys:
        return None
    return Issuer(auth.issuer, IssuerKeys(auth.keys), auth.user_claim, subjects=auth.subjects)


def _subject(claim: object) -> str:
    """A subject. Raises Unauthenticated for a value that OpenID Connect does not allow."""
    if isinstance(claim, str) and 0 < len(claim) <= _MOST_SUBJECT:
        return claim
    raise Unauthenticated(f"the token's claim sub is not a text of 1 to {_MOST_SUBJECT} characters")


def _header(token: str) -> dict[str, object] | None:
    """The header of a token that is signed with a private key; None for any other text."""
    encoded = token.partition(".")[0]
    if len(token) > _MOST or len(encoded) > _MOST_HEADER:
        return None
    try:
        header = json.loads(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (ValueError, RecursionError):
        return None
    algorithm = header.get("alg") if isinstance(header, dict) else None
    return header if isinstance(algorithm, str) and algorithm in ALGORITHMS else None

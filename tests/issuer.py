"""Keys and tokens of an issuer that is not the gateway."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from datasources.ids import Kind, compose

NAME = "https://id.example"
USER = compose(3, Kind.USER, 7)
PRIVATE: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
OTHER = ec.generate_private_key(ec.SECP256R1())


def member(algorithm: str, private: Any, id_: str, **more: Any) -> dict[str, Any]:
    """A public key as a member of a set."""
    text = get_default_algorithms()[algorithm].to_jwk(private.public_key())
    return {**json.loads(text), "kid": id_, **more}


def key_set(*members: dict[str, Any]) -> bytes:
    return json.dumps({"keys": members}).encode()


ALL = key_set(*(member(name, private, name) for name, private in PRIVATE.items()))


def signed(algorithm: str = "ES256", private: Any = None, **claims: Any) -> str:
    """An Authorization header of the issuer. A claim of None is left out."""
    id_ = claims.pop("kid", algorithm)
    whole = {"iss": NAME, "aud": "pinway", "sub": str(USER), "exp": time.time() + 60, **claims}
    given = {name: value for name, value in whole.items() if value is not None}
    key = private or PRIVATE[algorithm]
    headers = {"kid": id_} if id_ is not None else {}
    return f"Bearer {jwt.encode(given, key, algorithm, headers=headers)}"

"""An account in plain values."""

from typing import Any

from datasources.records import User
from feed_engine.times import in_utc
from feed_engine.transactions.key_kinds import KINDS, SUBJECT, KeyKind, issuer_and_subject


def told(user: User) -> dict[str, Any]:
    """The user's state, keys and times. Ids are texts, and times are ISO 8601 in UTC."""
    state = "active" if user.active else "deleted" if user.deleted else "never signed up"
    issuer, subject = issuer_and_subject(user.subject)
    return {
        "id": str(user.id),
        "state": state,
        "username": user.username,
        "full_name": user.full_name,
        "email": user.email or None,
        "issuer": issuer or None,
        "subject": subject or None,
        "created": in_utc(user.created),
        "deleted": in_utc(user.deleted) if user.deleted else None,
        "kept": [
            {"kind": kind.namespace, "key": shown(kind, it.key), "until": in_utc(it.until)}
            for kind in KINDS.values()
            for it in kind.kept_of(user)
        ],
    }


def shown(kind: KeyKind, key: str) -> str:
    """A key as people know it: of a subject without its issuer."""
    return issuer_and_subject(key)[1] if kind is SUBJECT else key

"""The kinds of keys through which a user is found, each claimed on a mod shard: user names, e-mail
addresses, and subjects of another issuer of tokens. A further kind is an entry here, with its three
fields in `datasources.records.User`."""

from typing import Any, NamedTuple

import msgspec

from datasources.errors import Conflict
from datasources.records import KeptKey, User


class KeyKind(NamedTuple):
    """A kind of keys.

    `namespace` is the claims' namespace. `field`, `claimed` and `kept` are fields of User: the key
    ("" for none), the version of its claim, and the earlier keys that are kept for the user.
    `argument` is the mutations' argument, `noun` its name in messages, and `taken` the refusal of a
    key that somebody else has.
    """

    namespace: str
    field: str
    claimed: str
    kept: str
    argument: str
    noun: str
    taken: str

    def key_of(self, user: User) -> str:
        """The user's key; "" if the user has none."""
        return str(getattr(user, self.field))

    def version_of(self, user: User) -> int:
        """The version of the claim of the user's key."""
        return int(getattr(user, self.claimed))

    def kept_of(self, user: User) -> tuple[KeptKey, ...]:
        """The earlier keys that are kept for the user."""
        kept: tuple[KeptKey, ...] = getattr(user, self.kept)
        return kept

    def find_kept(self, user: User, key: str) -> KeptKey | None:
        """The entry of a key that is kept for the user."""
        return next((entry for entry in self.kept_of(user) if entry.key == key), None)

    def kept_without(self, user: User, key: str) -> tuple[KeptKey, ...]:
        """The user's kept keys except one."""
        return tuple(entry for entry in self.kept_of(user) if entry.key != key)

    def all_of(self, user: User) -> list[str]:
        """The user's key and kept keys."""
        own = self.key_of(user)
        return [*([own] if own else []), *(entry.key for entry in self.kept_of(user))]

    def cleared(self) -> dict[str, Any]:
        """The changes of a user's record that remove all keys of this kind."""
        return {self.field: "", self.claimed: 0, self.kept: ()}

    def refusal(self, key: str) -> Conflict:
        """The refusal of a key that somebody else has, or that is kept for somebody else."""
        return Conflict(self.taken.format(key), self.argument)


USERNAME = KeyKind(
    namespace="username",
    field="username",
    claimed="claimed",
    kept="kept_names",
    argument="username",
    noun="user names",
    taken="The user name {} is taken: choose another.",
)
EMAIL = KeyKind(
    namespace="email",
    field="email",
    claimed="email_claimed",
    kept="kept_emails",
    argument="email",
    noun="e-mail addresses",
    taken="The e-mail address {} is taken: choose another.",
)
SUBJECT = KeyKind(
    namespace="subject",
    field="subject",
    claimed="subject_claimed",
    kept="kept_subjects",
    argument="token",
    noun="subjects",
    taken="The token's subject belongs to another user, or is kept for another user.",
)
KINDS = {kind.namespace: kind for kind in (USERNAME, EMAIL, SUBJECT)}


def subject_key(issuer: str, subject: str) -> str:
    """The key of a subject (`iss` and `sub` of OpenID Connect): a JSON list, so that no two pairs
    have the same key."""
    return msgspec.json.encode([issuer, subject]).decode()


def issuer_and_subject(key: str) -> tuple[str, str]:
    """The two parts of a subject's key; two empty texts for an empty key."""
    if not key:
        return "", ""
    issuer, subject = msgspec.json.decode(key, type=tuple[str, str])
    return issuer, subject

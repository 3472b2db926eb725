"""The addresses to which a picture is sent, of stored pictures, and of files with users' own data.

An upload's address has the owner, the upload and the time until which it holds, signed with the
gateway's secret. So has the address of a file with its owner's data, with the time of its request
in place of the upload. A stored picture's name has its owner and a keyed hash of its content: who
has the same file can't find out whether somebody uploaded it.
"""

import hmac
import re
import time
from typing import NamedTuple

from datasources.ids import InvalidId, Kind, parse

LASTS = 15 * 60
"""The time, in seconds, during which a signed address holds."""
UPLOADS = "/uploads/"
EXPORTS = "/exports/"
PICTURES = "/images/uploads/"

_SIGNED = {UPLOADS: b"upload", EXPORTS: b"export"}
_ADDRESS = re.compile(r"([0-9]{1,20})\.([0-9a-f]{1,16})\.([0-9]{1,12})\.([0-9a-f]{40})")
_PICTURE = re.compile(r"([0-9]{1,20}/[0-9a-f]{40}/[0-9]{1,5}\.webp)")


class Signed(NamedTuple):
    """A signed address: an upload of a user, or the file of a user's request of the epoch ms `id`.
    `expires`: epoch seconds."""

    owner_id: int
    id: int
    expires: int


class Addresses:
    """Makes and reads addresses with the gateway's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def upload(self, owner_id: int, id: int) -> tuple[str, int]:
        """The path to which the owner sends a picture, and the epoch seconds until which it
        holds."""
        return self._signed(UPLOADS, owner_id, id)

    def export(self, owner_id: int, requested: int) -> tuple[str, int]:
        """The path of the file with the owner's data that was requested at an epoch ms, and the
        epoch seconds until which the path holds."""
        return self._signed(EXPORTS, owner_id, requested)

    def read(self, path: str, name: str) -> Signed | None:
        """The meaning of an address below `path`, by its last part; None for an address that was
        not made here."""
        found = _ADDRESS.fullmatch(name)
        if found is None:
            return None
        owner, id, expires, digest = found.groups()
        made = self._digest(_SIGNED[path], name.rpartition(".")[0].encode())
        if not hmac.compare_digest(made, digest):
            return None
        try:
            return Signed(parse(owner, Kind.USER), int(id, 16), int(expires))
        except InvalidId:
            return None

    def folder(self, owner_id: int, content: bytes) -> str:
        """The folder of a picture's sizes in the store."""
        return f"{owner_id}/{self._digest(b'picture', content)}"

    def _signed(self, path: str, owner_id: int, id: int) -> tuple[str, int]:
        expires = int(time.time()) + LASTS
        signed = f"{owner_id}.{id:x}.{expires}"
        return f"{path}{signed}.{self._digest(_SIGNED[path], signed.encode())}", expires

    def _digest(self, what: bytes, text: bytes) -> str:
        """160 bits, in hexadecimal digits."""
        made = hmac.new(self._secret, what + b":", "sha256")
        made.update(text)
        return made.hexdigest()[:40]


def stored(name: str) -> str | None:
    """The name in the store of a picture's path below `PICTURES`; None if it can't be one."""
    return name if _PICTURE.fullmatch(name) else None

"""The places at which streams can be resumed, as the text of a cursor before it is encrypted."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

import msgspec


class BoardPlace(NamedTuple):
    """The state of a reader of a board's stream: the board's order version and `flips`, and the
    place in the board's log."""

    board_id: int
    version: int
    flips: int
    place: str

    def text(self) -> str:
        return urlsafe_b64encode(msgspec.json.encode(tuple(self))).rstrip(b"=").decode()

    @classmethod
    def read(cls, text: str | None) -> "BoardPlace | None":
        """The place in a text; None if there is none."""
        if text is None or not text.isascii():
            return None
        try:
            raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
            return cls(*msgspec.json.decode(raw, type=tuple[int, int, int, str]))
        except (binascii.Error, msgspec.MsgspecError, UnicodeDecodeError):
            return None

"""Finds text that hides behind visible characters.

Fonts draw nothing for many characters: joiners, direction marks, variation selectors, tags. Scripts
and emoji need a few of them: Persian a joiner between letters, Hindi one after a virama, and
"❤️‍🔥" a selector and a joiner between its parts. A long row of them is a message that a reader
does not see.
"""

import re

MOST = 3
"""Invisible characters in a row, at most. White space between them does not end the row."""
_OTHER_TAGS = "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    f"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a{_SELECTORS}"
)
# The flags of England, Scotland, Texas and the like: a black flag, tags for the region, an end.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_FOUND = re.compile(
    f"({_FLAG})|[{_OTHER_TAGS}]+|[{_SELECTORS}]{{2,}}"
    f"|[{_INVISIBLE}](?:[\\s\u2800]*[{_INVISIBLE}]){{{MOST},}}"
)


def hidden(value: str) -> str | None:
    """The first character of a hidden text; None if there is none."""
    found = (match[0][0] for match in _FOUND.finditer(value) if not match[1])
    return next(found, None)


def without_hidden(value: str) -> str:
    """The value without its hidden texts."""
    while hidden(value) is not None:
        value = _FOUND.sub(lambda match: match[1] or "", value)
    return value

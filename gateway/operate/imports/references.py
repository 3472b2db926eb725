"""Character references (`&amp;`, `&#233;`), as the HTML standard's tokenizer resolves them.

`html.unescape` of the standard library has only the rule for text. In an attribute, a reference
without a semicolon that is followed by "=", a letter or a digit is no reference, so that the
address `?a=1&copy=2` keeps its `&copy`.
"""

import re
from functools import partial
from html.entities import html5

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([A-Za-z][A-Za-z0-9]*;?))")
_BEGUN = re.compile(r"&(?:#[xX]?[0-9a-fA-F]*|[A-Za-z0-9]*)")
_LONGEST = max(map(len, html5))
_REPLACEMENT = "\ufffd"
_LAST = 0x10FFFF
_DIGITS = len(str(_LAST))


def in_text(text: str) -> str:
    """The text with its references resolved."""
    return _REFERENCE.sub(_resolve_in_text, text) if "&" in text else text


def in_attribute(value: str) -> str:
    """The attribute's value with its references resolved."""
    if "&" not in value:
        return value
    return _REFERENCE.sub(partial(_resolve_in_attribute, value), value)


def begun(text: str) -> int:
    """The position in the text's end where a reference begins that the next characters may
    continue; the text's length if there is none."""
    start = text.rfind("&", max(0, len(text) - _LONGEST - 1))
    return start if start >= 0 and _BEGUN.fullmatch(text, start) else len(text)


def _resolve_in_text(found: re.Match[str]) -> str:
    name = found[3]
    if name is None:
        return _numbered(found)
    for end in range(min(len(name), _LONGEST), 0, -1):
        if (resolved := html5.get(name[:end])) is not None:
            return resolved + name[end:]
    return found[0]


def _resolve_in_attribute(value: str, found: re.Match[str]) -> str:
    name = found[3]
    if name is None:
        return _numbered(found)
    # The match has all letters and digits, so only "=" can follow, or a shorter name within it.
    if not name.endswith(";") and value.startswith("=", found.end()):
        return found[0]
    return html5.get(name, found[0])


def _numbered(found: re.Match[str]) -> str:
    digits = (found[1] or found[2]).lstrip("0")
    if len(digits) > _DIGITS:
        return _REPLACEMENT
    code = int(digits or "0", 16 if found[1] else 10)
    if code == 0 or code > _LAST or 0xD800 <= code <= 0xDFFF:
        return _REPLACEMENT
    if 0x80 <= code <= 0x9F:  # the standard's table is windows-1252, where it has a character
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code)

"""Tags and texts of an HTML file, read in pieces, as the HTML standard's tokenizer reads them.

Nothing is a tree here, so a file of any size and any depth takes bounded memory. The tokenizer is
own code, because the libraries do not fit: a tree of a file of 100 MB takes hundreds of MB and
knows no line numbers, html5lib takes four times as long, and `html.parser` reads attributes in
another way in each of Python's releases.
"""

import re
from typing import NamedTuple

from gateway.operate.imports import references

MAX_TAG = 4 << 20
"""Characters in a tag, at most; longer tags are broken. Icons in tags have some ten thousand."""

_SPACE = r"[\t\n\f\r ]"
# Possessive quantifiers: a broken tag takes no more steps than a whole one.
_VALUE = r"(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\t\n\f\r >]*+)"
_NAME = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_ATTRIBUTE = rf"{_NAME}(?:{_SPACE}*+={_SPACE}*+{_VALUE}|(?!{_SPACE}*+=))"
_TAG = re.compile(rf"<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)>", re.ASCII)
_ATTRIBUTES = re.compile(rf"({_NAME})(?:{_SPACE}*+={_SPACE}*+({_VALUE}))?+")
_OPENED = re.compile(r"<(?=[A-Za-z/!?]|\Z)")
"""The start of what may be no text. Any other "<" is text."""
_COMMENT_END = re.compile(r"--!?>")
_COMMENT_SHORT = re.compile(r"<!---?>")
_RAW = frozenset({"script", "style", "iframe", "noembed", "noframes", "textarea", "xmp"})
"""The elements whose content has no tags, and nothing that is imported."""
_ENDS = {name: re.compile(rf"(?i)(?=</{name}[\t\n\f\r />])") for name in _RAW}
_TO_BRACKET = re.compile(">")
_LONGEST_END = max(len("</textarea>"), len("--!>"))
_LOWER = str.maketrans({c: c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


class StartTag(NamedTuple):
    """A start tag. `raw` is the text of its attributes."""

    name: str
    raw: str
    line: int

    def attributes(self) -> dict[str, str | None]:
        """The attributes by their names in lower case; None for an attribute without a value. The
        first of several attributes with one name counts."""
        found: dict[str, str | None] = {}
        for match in _ATTRIBUTES.finditer(self.raw):
            name, value = match[1].translate(_LOWER), match[2]
            if name in found:
                continue
            if value is not None:
                if value[:1] in ("'", '"'):
                    value = value[1:-1]
                value = references.in_attribute(value.replace("\0", "\ufffd"))
            found[name] = value
        return found


class EndTag(NamedTuple):
    name: str


class Text(NamedTuple):
    """A piece of text with its references resolved. A long text comes in several pieces."""

    text: str


class Broken(NamedTuple):
    """A part of the file that can't be read, and the line where it begins."""

    line: int
    message: str


Token = StartTag | EndTag | Text | Broken


class Tokenizer:
    """Takes the text of a file in pieces, with newlines as "\\n"."""

    def __init__(self) -> None:
        self._rest = ""
        self._line = 1
        self._skipped: tuple[re.Pattern[str], str, int] | None = None
        """The end of the part that is skipped, the part's name, and the line where it began."""

    def feed(self, text: str) -> list[Token]:
        """The tokens that the text completes."""
        tokens: list[Token] = []
        data = self._rest + text
        in_tag = self._rest[:1] == "<" and self._rest[1:2].isalpha()
        if not in_tag or ">" in text or self._skipped is not None:
            end = self._read(data, tokens)
            self._line += data.count("\n", 0, end)
            data = data[end:]
        self._rest = data
        if len(self._rest) > MAX_TAG:
            tokens.append(Broken(self._line, f"a tag of over {MAX_TAG >> 20} MiB: left out"))
            self._line += self._rest.count("\n")
            self._rest = ""
        return tokens

    def close(self) -> list[Token]:
        """The tokens at the end of the file. A tag without an end is no token."""
        if self._skipped is not None:
            _, name, line = self._skipped
            return [Broken(line, f"{name} without an end: the rest of the file is left out")]
        if self._rest.startswith("<") and len(self._rest) > 1:
            return [Broken(self._line, "a tag without an end: left out")]
        return [Text(references.in_text(self._rest))] if self._rest else []

    def _read(self, data: str, tokens: list[Token]) -> int:
        """Add the tokens of `data`. Returns the position where the unfinished rest begins."""
        at, line, counted = 0, self._line, 0
        while True:
            if self._skipped is not None:
                found = self._skipped[0].search(data, at)
                if found is None:
                    return max(at, len(data) - _LONGEST_END)
                at, self._skipped = found.end(), None
            opened = _OPENED.search(data, at)
            if opened is None:
                return self._read_text(data, at, tokens)
            start = opened.start()
            if start > at:
                tokens.append(Text(references.in_text(data[at:start])))
            line, counted = line + data.count("\n", counted, start), start
            tag = _TAG.match(data, start)
            if tag is not None:
                at = tag.end()
                name = tag[2].translate(_LOWER)
                if tag[1]:
                    tokens.append(EndTag(name))
                else:
                    tokens.append(StartTag(name, tag[3], line))
                    if name in _RAW:
                        self._skipped = _ENDS[name], f"<{name}>", line
                continue
            after = self._read_other(data, start, line)
            if after is None:
                return start
            at = after

    def _read_text(self, data: str, at: int, tokens: list[Token]) -> int:
        """Read the text up to the end of `data`, but for a reference that may be unfinished."""
        end = references.begun(data)
        if end > at:
            tokens.append(Text(references.in_text(data[at:end])))
        return max(at, end)

    def _read_other(self, data: str, start: int, line: int) -> int | None:
        """Read a comment or a declaration. Returns the position from which on it is skipped; None
        for a tag and all else that is unfinished."""
        head = data[start : start + 4]
        if head[1:2].isascii() and head[1:2].isalpha():
            return None
        if head[:2] == "</":
            if len(head) == 2 or (head[2].isascii() and head[2].isalpha()):
                return None
            self._skipped = (_TO_BRACKET, "a comment", line)
            return start + 2  # "</>" is nothing, "</3>" is a comment
        if head[:2] in ("<!", "<?"):
            if head == "<!--":
                short = _COMMENT_SHORT.match(data, start)
                if short is not None:
                    return short.end()
                if len(data) < start + len("<!--->"):
                    return None
                self._skipped = (_COMMENT_END, "a comment", line)
                return start + 4
            if "<!--".startswith(head):
                return None
            self._skipped = (_TO_BRACKET, "a comment", line)
            return start + 2
        return None  # a "<" at the end

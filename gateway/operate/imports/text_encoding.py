"""The encoding of a text file, and its text.

Only encodings of the WHATWG Encoding standard are read, as in browsers. Python has more codecs,
and some of them (hex, zlib, punycode) decode no text.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

HEAD = 4096  # bytes in which a file names its encoding
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BARE = {b"<\0": "utf-16-le", b"\0<": "utf-16-be", b"{\0": "utf-16-le", b"[\0": "utf-16-le"}
"""The first bytes of a file in UTF-16 without a byte order mark."""
_CODECS = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp866": "cp866",
    "cp874": "cp874",
    "cp932": "cp932",
    "cp949": "cp949",
    **{f"cp{number}": f"cp{number}" for number in range(1250, 1259)},
    "euc_jp": "euc_jp",
    "euc_kr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso2022_jp": "iso2022_jp",
    "iso8859-1": "cp1252",
    **{f"iso8859-{number}": f"iso8859-{number}" for number in (*range(2, 9), 10, 13, 14, 15, 16)},
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-cyrillic": "mac-cyrillic",
    "mac-roman": "mac-roman",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    # A declaration that was read as ASCII can't name a two-byte encoding.
    **{f"utf-16{order}": "utf-8" for order in ("", "-le", "-be")},
    "utf-8": "utf-8",
}
"""Python's names of the standard's encodings → the codecs that browsers use for them."""

_LABELS = {"iso-8859-8-i": "iso8859-8", "windows-31j": "cp932", "windows-874": "cp874"}
"""Names of encodings that Python does not know."""


class Encoding(NamedTuple):
    """A codec of Python. `refused` is the name in the file, if it names no encoding of text."""

    codec: str
    refused: str | None = None


def sniff(head: bytes, *, markup: bool = True) -> Encoding:
    """The encoding of a file: of its byte order mark, else of its META element if the file is
    `markup`, else UTF-8."""
    for bom, codec in _BOMS.items():
        if head.startswith(bom):
            return Encoding(codec)
    if bare := _BARE.get(head[:2]):
        return Encoding(bare)
    named = _CHARSET.search(head[:HEAD]) if markup else None
    if named is None:
        return Encoding("utf-8")
    label = named[1].decode("ascii", "replace").lower()
    found = _codec(label) or _codec(label.removeprefix("x-"))
    return Encoding(found) if found else Encoding("utf-8", label)


def decoded(chunks: Iterable[bytes], encoding: Encoding) -> Iterator[str]:
    """The text, with newlines as "\\n". Bytes that are wrong in the encoding become U+FFFD."""
    codec = codecs.getincrementaldecoder(encoding.codec)("replace")
    decoder = io.IncrementalNewlineDecoder(codec, translate=True)
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def json_text(data: bytes) -> str:
    """The text of a JSON document. A byte that is wrong in UTF-8, and half of a surrogate pair in
    UTF-16, become lone surrogates. Raises UnicodeDecodeError for half a character at the end."""
    codec = sniff(data[:HEAD], markup=False).codec
    text = data.decode(codec, "surrogateescape" if codec.startswith("utf-8") else "surrogatepass")
    return text.removeprefix("\ufeff")


def _codec(label: str) -> str | None:
    try:
        return _CODECS.get(codecs.lookup(_LABELS.get(label, label)).name)
    except (LookupError, ValueError):  # ValueError: a name with a NUL
        return None

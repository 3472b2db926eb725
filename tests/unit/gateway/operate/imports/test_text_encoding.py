"""The encodings of files: of the WHATWG Encoding standard, and no other codecs of Python."""

import pytest

from gateway.operate.imports.bookmarks import read
from gateway.operate.imports.events import Fault, Link
from gateway.operate.imports.text_encoding import Encoding, decoded, sniff

PAGE = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=%s">\n<A HREF="https://e.x">%s'


@pytest.mark.parametrize(
    "label",
    [
        *("hex", "zlib", "bz2", "base64", "uu", "quopri", "rot13", "punycode", "idna", "undefined"),
        *("unicode_escape", "raw_unicode_escape", "utf-7", "utf-32", "mbcs", "cp437", "no-such"),
        *("..", "a.b", "x" * 500),
    ],
)
def test_a_name_that_is_no_encoding_of_text_is_told_and_the_file_read(label: str) -> None:
    found = list(read([(PAGE % (label, "é")).encode()]))
    fault, link = found
    assert isinstance(fault, Fault)
    assert isinstance(link, Link)
    assert (fault.line, fault.kept) == (1, True)
    assert repr(label[:40]) in fault.message
    assert link.title == "é"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("UTF-8", "utf-8", "茶"),
        ("Shift_JIS", "cp932", "茶①"),
        ("x-sjis", "shift_jis", "茶"),
        ("windows-31j", "cp932", "茶"),
        ("EUC-JP", "euc_jp", "茶"),
        ("ISO-2022-JP", "iso2022_jp", "茶"),
        ("gb2312", "gb18030", "茶镕"),
        ("x-gbk", "gbk", "茶"),
        ("Big5", "big5", "茶"),
        ("euc-kr", "cp949", "똠"),
        ("windows-1252", "cp1252", "“café”"),
        ("iso-8859-1", "cp1252", "“café”"),
        ("us-ascii", "cp1252", "café"),
        ("windows-1251", "cp1251", "чай"),
        ("koi8-r", "koi8-r", "чай"),
        ("x-mac-cyrillic", "mac-cyrillic", "чай"),
        ("iso-8859-9", "cp1254", "çay €"),
        ("windows-874", "cp874", "ชา"),
        ("utf-16", "utf-8", "a declaration in ASCII is never UTF-16"),
    ],
)
def test_a_file_is_read_in_the_encoding_that_it_names(label: str, codec: str, text: str) -> None:
    (link,) = read([(PAGE % (label, text)).encode(codec)])
    assert isinstance(link, Link)
    assert link.title == text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_wins_and_utf16_needs_none(codec: str) -> None:
    (link,) = read([(PAGE % ("koi8-r", "茶")).encode(codec)])
    assert isinstance(link, Link)
    assert link.title == "茶"


def test_a_name_that_is_split_between_two_pieces_is_found() -> None:
    data = (PAGE % ("windows-1251", "чай")).encode("cp1251")
    (link,) = read(data[at : at + 5] for at in range(0, len(data), 5))
    assert isinstance(link, Link)
    assert link.title == "чай"


def test_newlines_are_one_character_and_wrong_bytes_are_replaced() -> None:
    pieces = [b"a\r", b"\nb\rc", b"\xff\xe2", b"\x82"]
    assert "".join(decoded(pieces, Encoding("utf-8"))) == "a\nb\nc\ufffd\ufffd"
    assert sniff(b"") == Encoding("utf-8")
